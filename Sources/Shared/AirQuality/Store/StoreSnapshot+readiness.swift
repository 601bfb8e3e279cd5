extension StoreSnapshot {
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
}
