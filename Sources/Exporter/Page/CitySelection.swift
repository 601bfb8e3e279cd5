import AirQuality

/// The cities that a list shows, and how many there are per category.
struct CitySelection {
    /// Cities per page of the list.
    static let pageSize = 100
    /// Maximum number of cards on a page of a wall display: more could not be read from a distance on a common screen.
    static let kioskSize = 60

    /// Indices into the snapshot of the cities on the page, in order.
    private(set) var cities: [Int] = []
    /// Number of cities matching the search by category number; 0 stands for all.
    private(set) var counts = [Int](repeating: 0, count: 7)
    /// Number of cities matching the search and the category.
    let count: Int
    let page: Int
    let pageCount: Int

    init(_ snapshot: StoreSnapshot, query: ListQuery) {
        let part = query.search.split(separator: " ").joined(separator: " ").lowercased()
        // No name is longer. Comparing letters with more combining marks would be slow.
        let mayMatch = part.utf8.count <= CityName.maximumCount && part.allSatisfy { $0.unicodeScalars.count <= 8 }
        for (city, state) in snapshot.states.enumerated()
        where part.isEmpty || (mayMatch && Self.has(part, in: state.name)) {
            counts[0] += 1
            counts[Int(state.category)] += 1
            if query.category == nil || query.category == state.category { cities.append(city) }
        }
        func changedAt(_ city: Int) -> Timestamp { snapshot.states[city].changes.changedAt ?? 0 }
        count = cities.count
        // The snapshot sorts cities by name, which decides ties.
        switch query.sort {
        case .name: break
        case .index: cities.sort { snapshot.states[$0].aqi > snapshot.states[$1].aqi }
        case .changed: cities.sort { changedAt($0) > changedAt($1) }
        }
        let limit = query.isKiosk ? Self.kioskSize : Self.pageSize
        pageCount = max(1, (count + limit - 1) / limit)
        page = min(query.page, pageCount)
        // Pages of a wall are equally full.
        let size = query.isKiosk ? (count + pageCount - 1) / pageCount : limit
        cities = Array(cities.dropFirst((page - 1) * size).prefix(size))
    }

    private static func has(_ part: String, in name: [UInt8]) -> Bool {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        // Comparing characters finds every spelling of a letter; comparing scalars finds a letter without its combining
        // marks. The latter takes four times as long and is useless for ASCII.
        let isASCII = name.allSatisfy { $0 < 0x80 }
        return text.contains(part) || (!isASCII && text.unicodeScalars.contains(part.unicodeScalars))
    }
}
