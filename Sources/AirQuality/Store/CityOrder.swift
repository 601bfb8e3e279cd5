/// A run of cities that follow each other in the order of names.
struct CityPage: Sendable {
    /// The numbers of the cities, sorted by name.
    var cities: [UInt32] = []
    /// The store's version when a city last came or went.
    var layoutVersion: UInt64 = 0
}

/// All cities by name, in pages: a city that comes or goes concerns one page and moves no other.
///
/// There are few pages however many cities there are, because a scrape sends each page's text as pieces of its own:
/// the more cities, the larger the pages.
///
/// A page's number never changes while it exists; `sequence` says how the pages follow each other.
struct CityOrder: Sendable {
    /// Cities of a page, while there are few.
    private static let usualLimit = 256
    /// When there are more pages than this, small neighbours are joined.
    static let maximumPages = 40

    private(set) var pages: [CityPage] = []
    private(set) var sequence: [UInt32] = []
    private var freePages: [UInt32] = []
    private var cityCount = 0

    /// A page with more cities is halved. Two neighbours that are joined have at most as many together, so there are
    /// never more than 33 pages after a joining.
    var pageLimit: Int { max(Self.usualLimit, cityCount / 16) }

    /// - Parameter precedes: whether the name of the city with this number sorts before the new one's.
    mutating func insert(_ city: UInt32, version: UInt64, precedes: (UInt32) -> Bool) {
        cityCount += 1
        guard !sequence.isEmpty else {
            sequence.append(makePage(CityPage(cities: [city], layoutVersion: version)))
            return
        }
        let (place, index) = search(precedes)
        let page = Int(sequence[place])
        pages[page].cities.insert(city, at: index)
        pages[page].layoutVersion = version
        guard pages[page].cities.count > pageLimit else { return }
        split(place, version: version)
        if sequence.count > Self.maximumPages { joinNeighbours(version: version) }
    }

    /// - Parameter precedes: whether the name of the city with this number sorts before the one's that goes.
    mutating func remove(_ city: UInt32, version: UInt64, precedes: (UInt32) -> Bool) {
        var (place, index) = search(precedes)
        // At the end of a page's cities, if it is the first of the next page.
        if index == pages[Int(sequence[place])].cities.count { (place, index) = (place + 1, 0) }
        let page = Int(sequence[place])
        precondition(pages[page].cities[index] == city, "a city is where its name is sorted to")
        cityCount -= 1
        pages[page].cities.remove(at: index)
        pages[page].layoutVersion = version
        guard pages[page].cities.isEmpty else { return }
        sequence.remove(at: place)
        freePages.append(UInt32(page))
    }

    /// Where the first city is whose name does not sort before the one in question: its page's place in the sequence,
    /// and its index there, which is the end of the page if it is the next page's first.
    private func search(_ precedes: (UInt32) -> Bool) -> (place: Int, index: Int) {
        // The last page whose first city sorts before, else the first page.
        let place = max(0, Self.partition(sequence.count) { precedes(pages[Int(sequence[$0])].cities[0]) } - 1)
        let cities = pages[Int(sequence[place])].cities
        return (place, Self.partition(cities.count) { precedes(cities[$0]) })
    }

    private mutating func split(_ place: Int, version: UInt64) {
        let page = Int(sequence[place])
        let middle = pages[page].cities.count / 2
        let number = makePage(CityPage(cities: Array(pages[page].cities[middle...]), layoutVersion: version))
        pages[page].cities.removeSubrange(middle...)
        sequence.insert(number, at: place + 1)
    }

    private mutating func joinNeighbours(version: UInt64) {
        var joined: [UInt32] = []
        for number in sequence {
            let cities = pages[Int(number)].cities
            if let last = joined.last.map({ Int($0) }), pages[last].cities.count + cities.count <= pageLimit {
                pages[last].cities += cities
                pages[last].layoutVersion = version
                pages[Int(number)].cities = []
                freePages.append(number)
            } else {
                joined.append(number)
            }
        }
        sequence = joined
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
