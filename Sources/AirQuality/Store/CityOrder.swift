import JSON

/// A run of cities that follow each other in the order of names.
struct CityPage: Sendable {
    /// The numbers of the cities, sorted by name.
    var cities: [UInt32] = []
    /// The store's version when a reading of one of them was last recorded.
    var version: UInt64 = 0
    /// … when one of them last changed its category.
    var changesVersion: UInt64 = 0
    /// … when a city last came or went.
    var layoutVersion: UInt64 = 0
}

/// All cities by name, in pages: a change of a city concerns one page, and a new city moves no other page.
///
/// A page's number never changes while it exists; `sequence` says how the pages follow each other.
struct CityOrder: Sendable {
    /// A full page is halved, so pages hold 128 to 256 cities.
    static let maximumCount = 256

    private(set) var pages: [CityPage] = []
    private(set) var sequence: [UInt32] = []
    private var freePages: [UInt32] = []

    @inline(__always)
    mutating func markRead(page: Int, version: UInt64) {
        pages[page].version = version
    }

    mutating func markChanged(page: Int, version: UInt64) {
        pages[page].changesVersion = version
    }

    /// - Parameters:
    ///   - precedes: whether the name of the city with this number sorts before the new one's.
    ///   - moved: told for each city whose page is now another, the new one included.
    mutating func insert(
        _ city: UInt32, version: UInt64, precedes: (UInt32) -> Bool, moved: (_ city: UInt32, _ page: UInt32) -> Void
    ) {
        guard !sequence.isEmpty else {
            let page = makePage(CityPage(cities: [city], version: version, layoutVersion: version))
            sequence.append(page)
            moved(city, page)
            return
        }
        // The last page whose first city sorts before the new one, else the first page.
        let following = Self.partition(sequence.count) { precedes(pages[Int(sequence[$0])].cities[0]) }
        let place = max(0, following - 1)
        let page = sequence[place]
        let index = Self.partition(pages[Int(page)].cities.count) { precedes(pages[Int(page)].cities[$0]) }
        pages[Int(page)].cities.insert(city, at: index)
        pages[Int(page)].version = version
        pages[Int(page)].layoutVersion = version
        moved(city, page)
        if pages[Int(page)].cities.count > Self.maximumCount { split(place, version: version, moved: moved) }
    }

    private mutating func split(_ place: Int, version: UInt64, moved: (UInt32, UInt32) -> Void) {
        let page = Int(sequence[place])
        let middle = pages[page].cities.count / 2
        var second = pages[page]
        second.cities = Array(second.cities[middle...])
        second.layoutVersion = version
        pages[page].cities.removeSubrange(middle...)
        let number = makePage(second)
        sequence.insert(number, at: place + 1)
        for city in second.cities { moved(city, number) }
    }

    mutating func remove(_ city: UInt32, page: Int, version: UInt64) {
        pages[page].cities.removeAll { $0 == city }
        pages[page].layoutVersion = version
        guard pages[page].cities.isEmpty else { return }
        sequence.removeAll { $0 == UInt32(page) }
        freePages.append(UInt32(page))
    }

    private mutating func makePage(_ page: CityPage) -> UInt32 {
        if let free = freePages.popLast() {
            pages[Int(free)] = page
            return free
        }
        pages.append(page)
        return UInt32(pages.count - 1)
    }

    /// How many of the first `count` indices, sorted so that those come first, are true.
    private static func partition(_ count: Int, _ isTrue: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
