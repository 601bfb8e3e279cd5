/// What the page is made from: the cities with their points, and the feeds, at one moment.
public struct PageSnapshot: Sendable {
    public let store: StoreSnapshot
    let histories: ChunkedArray<History>

    public var feeds: [FeedStatistics] { store.feeds }

    /// The numbers of all cities, by name.
    var cities: [Int] {
        store.order.sequence.flatMap { store.order.pages[Int($0)].cities.map(Int.init) }
    }

    func state(of city: Int) -> CityState { store.states[city] }

    func name(of city: Int) -> ArraySlice<UInt8> { store.names.bytes[store.states[city].nameRange] }

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
        let pages = store.order.sequence.map { store.order.pages[Int($0)].cities }
        // The last page whose first city sorts at or before the name.
        guard let page = pages.lastIndex(where: { !name.lexicographicallyPrecedes(self.name(of: Int($0[0]))) }),
            let place = pages[page].firstIndex(where: { self.name(of: Int($0)).elementsEqual(name) })
        else { return nil }
        let previous = place > 0 ? pages[page][place - 1] : page > 0 ? pages[page - 1].last : nil
        let next =
            place + 1 < pages[page].count
            ? pages[page][place + 1] : page + 1 < pages.count ? pages[page + 1].first : nil
        return (Int(pages[page][place]), previous.map(Int.init), next.map(Int.init))
    }
}
