/// The store's state at one moment: copy-on-write copies of its arrays, so that taking one is cheap.
///
/// ``states`` and ``histories`` are sorted by the bytes of the names.
public struct StoreSnapshot: Sendable {
    public let rules: StoreRules
    /// Increases with every change of the store.
    public let version: UInt64
    /// When the store was created.
    public let startedAt: Timestamp
    /// When cities last expired; `nil` before the first time.
    public let expiredAt: Timestamp?
    public let states: [CityState]
    /// Empty unless requested.
    public let histories: [History]
    public let feeds: [FeedStatistics]
    /// Number of history points across all cities.
    public let pointCount: Int
    /// Number of cities that have expired.
    public let expiredCount: UInt64

    public var cityCount: Int { states.count }

    /// Returns a city's points, oldest first, including the current reading if it is newer than all of them.
    public func points(of city: Int) -> [HistoryPoint] {
        var points = histories[city].points
        let state = states[city]
        if points.last.map({ $0.time < state.updatedAt }) ?? true {
            points.append(HistoryPoint(time: state.updatedAt, aqi: state.aqi))
        }
        return points
    }

    /// Returns the index of the city with this name.
    public func find(_ name: [UInt8]) -> Int? {
        let index = partition(states.count) { CityName.precedes(states[$0].name, name) }
        return index < states.count && states[index].name == name ? index : nil
    }
}
