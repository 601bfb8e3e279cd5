/// What the page is made from: the cities with their points, and the feeds, at one moment.
public struct PageSnapshot: Sendable {
    public let store: StoreSnapshot
    let histories: ChunkedArray<History>

    public var feeds: [FeedStatistics] { store.feeds }

    /// The numbers of all cities, by name.
    var cities: [Int] {
        store.order.sequence.flatMap { store.order.runs[Int($0)].cities.map(Int.init) }
    }

    func state(of city: Int) -> CityState { store.states[city] }

    func extras(of city: Int) -> CityExtras { store.extras[city] }

    func name(of city: Int) -> ArraySlice<UInt8> { store.names[store.states[city].nameRange] }

    /// Oldest first: the kept points, and the current reading where it is newer than all of them.
    func points(of city: Int) -> [HistoryPoint] {
        let history = histories[city]
        var points = (0..<history.count).map { history[$0] }
        let state = state(of: city)
        if points.last.map({ $0.time < state.updatedAt }) ?? true {
            points.append(HistoryPoint(time: state.updatedAt, index: state.index, category: state.category))
        }
        return points
    }

    /// The city of this name, and those before and after it by name.
    func find(_ name: [UInt8]) -> (city: Int, previous: Int?, next: Int?)? {
        let runs = store.order.sequence.map { store.order.runs[Int($0)].cities }
        // The last run whose first city sorts at or before the name.
        guard let run = runs.lastIndex(where: { !name.lexicographicallyPrecedes(self.name(of: Int($0[0]))) }),
            let place = runs[run].firstIndex(where: { self.name(of: Int($0)).elementsEqual(name) })
        else { return nil }
        let previous = place > 0 ? runs[run][place - 1] : run > 0 ? runs[run - 1].last : nil
        let next =
            place + 1 < runs[run].count
            ? runs[run][place + 1] : run + 1 < runs.count ? runs[run + 1].first : nil
        return (Int(runs[run][place]), previous.map(Int.init), next.map(Int.init))
    }
}
