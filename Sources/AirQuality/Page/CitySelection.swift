/// The cities that a list shows, and how many there are of each kind.
struct CitySelection {
    /// Rows of a page of the list.
    static let pageSize = 100

    /// Of the page, in order.
    private(set) var cities: [Int] = []
    /// Of the cities that the search finds, at the category's number; 0 is for all.
    private(set) var counts = [Int](repeating: 0, count: 7)
    /// Of the cities that the search and the category leave.
    private(set) var count = 0
    private(set) var page = 1
    private(set) var pageCount = 1

    init(_ snapshot: PageSnapshot, query: ListQuery) {
        let search = NameSearch(query.search)
        var found: [Entry] = []
        for (place, city) in snapshot.cities.enumerated() {
            let state = snapshot.state(of: city)
            guard search.matches(snapshot.name(of: city)) else { continue }
            counts[0] += 1
            counts[Int(state.category)] += 1
            if let category = query.category, category != state.category { continue }
            let key: UInt64 =
                switch query.sort {
                // The bits of two doubles that are not negative compare as the doubles do.
                case .index: ~state.index.bitPattern
                case .name: 0
                case .changed: UInt64(clamping: Int64.max - (state.changes.changedAt ?? 0))
                }
            found.append(Entry(key: key, place: UInt32(place), city: UInt32(city)))
        }
        count = found.count
        pageCount = max(1, (count + Self.pageSize - 1) / Self.pageSize)
        page = min(query.page, pageCount)
        if query.sort != .name { found.sort() }
        cities = found.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize).map { Int($0.city) }
    }

    private struct Entry: Comparable {
        var key: UInt64
        /// By name, which decides between equal keys.
        var place: UInt32
        var city: UInt32

        static func < (one: Entry, other: Entry) -> Bool {
            one.key != other.key ? one.key < other.key : one.place < other.place
        }
    }
}

/// Looks for a part of a name, whatever the case of its letters.
private struct NameSearch {
    private let part: [UInt8]

    init(_ part: [UInt8]) {
        self.part = Self.lowercased(part[...])
    }

    func matches(_ name: ArraySlice<UInt8>) -> Bool {
        guard !part.isEmpty else { return true }
        let name = Self.lowercased(name)
        guard name.count >= part.count else { return false }
        return (0...name.count - part.count).contains { name[$0] == part[0] && name[$0...].starts(with: part) }
    }

    private static func lowercased(_ text: ArraySlice<UInt8>) -> [UInt8] {
        if text.allSatisfy({ $0 < 0x80 }) {
            return text.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
        }
        return Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    }
}
