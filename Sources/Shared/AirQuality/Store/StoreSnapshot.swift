/// The store's state at one moment: copy-on-write copies of its arrays, so that taking one is cheap.
///
/// A city's number is its position in ``states`` and ``histories``, which are sorted by the bytes of the names.
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

    /// Whether the feed is connected or deliberately paused, and some city has a fresh reading. Needs histories.
    public func isReady(_ feed: FeedStatistics, at now: Timestamp) -> Bool {
        (feed.isConnected || feed.isPaused) && states.indices.contains { isFresh($0, of: feed, at: now) }
    }

    /// Whether the city's newest reading arrived within the feed's idle time-out, or within twice the interval between
    /// its last two points, counting that reading. Until there are two points, any recent reading of the feed
    /// suffices. Always true while the feed is paused or has no idle time-out.
    private func isFresh(_ city: Int, of feed: FeedStatistics, at now: Timestamp) -> Bool {
        let state = states[city]
        let age = now - state.receivedAt
        if feed.isPaused || feed.idleTimeout == 0 || age <= feed.idleTimeout { return true }
        let histories = histories.span
        let count = histories[city].points.count
        guard count > 1 else { return feed.lastReadingAt.map { now - $0 <= feed.idleTimeout } ?? false }
        let last = histories[city].points[count - 1].time
        let pace = state.updatedAt > last ? state.updatedAt - last : last - histories[city].points[count - 2].time
        return age <= 2 * pace
    }

    /// Whether the city's newest reading is older than ``isReady(_:at:)`` allows for every feed. Needs histories.
    public func isOverdue(_ city: Int, at now: Timestamp) -> Bool {
        !feeds.isEmpty && !feeds.contains { isFresh(city, of: $0, at: now) }
    }

    /// Returns the number of the city with this name.
    public func find(_ name: [UInt8]) -> Int? {
        let index = partition(states.count) { CityName.precedes(states[$0].name, name) }
        return index < states.count && states[index].name == name ? index : nil
    }
}
