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
    private(set) var count = 0
    private(set) var page = 1
    private(set) var pageCount = 1
    /// The city whose category changed last, of those counted.
    private(set) var lastChanged: Int?
    /// Time of the newest reading of all cities.
    private(set) var newest: Timestamp?

    init(_ snapshot: StoreSnapshot, query: ListQuery) {
        let search = query.search.isEmpty ? nil : NameSearch(query.search)
        var lastChange = Timestamp.min
        for city in snapshot.order {
            let state = snapshot.states[city]
            newest = max(newest ?? .min, state.updatedAt)
            if let search, !search.matches(state.name) { continue }
            counts[0] += 1
            counts[Int(state.category)] += 1
            if let changedAt = state.changes.changedAt, changedAt > lastChange {
                lastChange = changedAt
                lastChanged = city
            }
            if let category = query.category, category != state.category { continue }
            cities.append(city)
        }
        count = cities.count
        Self.sort(&cities, of: snapshot, by: query.sort)
        guard !query.isKiosk else {
            cities = Array(cities.prefix(Self.kioskSize))
            return
        }
        pageCount = max(1, (count + Self.pageSize - 1) / Self.pageSize)
        page = min(query.page, pageCount)
        cities = Array(cities.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize))
    }

    /// Sorts cities that are in the order of their names, which decides between equals.
    private static func sort(_ cities: inout [Int], of snapshot: StoreSnapshot, by order: ListQuery.Sort) {
        switch order {
        case .name: return
        case .index: cities.sort { snapshot.states[$0].index > snapshot.states[$1].index }
        case .changed:
            cities.sort { one, other in
                (snapshot.states[one].changes.changedAt ?? 0) > (snapshot.states[other].changes.changedAt ?? 0)
            }
        }
    }
}
