import AirQuality

/// The cities that a list shows, and how many there are of each kind.
struct CitySelection {
    /// Rows of a page of the list.
    static let pageSize = 100
    /// Cards of a wall display: with more, those on a common screen could not be read from afar.
    static let kioskSize = 60

    /// Numbers of the cities of the page, in order.
    private(set) var cities: [Int] = []
    /// How many of those that the search finds have a category, at its number; 0 is for all.
    private(set) var counts = [Int](repeating: 0, count: 7)
    /// How many cities the search and the category leave.
    let count: Int
    let page: Int
    let pageCount: Int

    init(_ snapshot: StoreSnapshot, query: ListQuery) {
        let part = query.search.split(separator: " ").joined(separator: " ").lowercased()
        // No name is longer, or has a letter with more signs: each comparison would take long.
        let mayMatch = part.utf8.count <= CityName.maximumCount && part.allSatisfy { $0.unicodeScalars.count <= 8 }
        for (city, state) in snapshot.states.enumerated()
        where part.isEmpty || (mayMatch && Self.has(part, in: state.name)) {
            counts[0] += 1
            counts[Int(state.category)] += 1
            if query.category == nil || query.category == state.category { cities.append(city) }
        }
        func changedAt(_ city: Int) -> Timestamp { snapshot.states[city].changes.changedAt ?? 0 }
        count = cities.count
        // Cities are in the order of their names, which decides between equals.
        switch query.sort {
        case .name: break
        case .index: cities.sort { snapshot.states[$0].index > snapshot.states[$1].index }
        case .changed: cities.sort { changedAt($0) > changedAt($1) }
        }
        pageCount = query.isKiosk ? 1 : max(1, (count + Self.pageSize - 1) / Self.pageSize)
        page = min(query.page, pageCount)
        let size = query.isKiosk ? Self.kioskSize : Self.pageSize
        cities = Array(cities.dropFirst((page - 1) * size).prefix(size))
    }

    private static func has(_ part: String, in name: [UInt8]) -> Bool {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        // Characters find each spelling of a letter, scalars a letter without the signs that follow it, which ASCII has
        // not: they take four times as long.
        let isASCII = name.allSatisfy { $0 < 0x80 }
        return text.contains(part) || (!isASCII && text.unicodeScalars.contains(part.unicodeScalars))
    }
}
