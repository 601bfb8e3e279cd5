import AirQuality
import System

extension StoreSnapshot {
    /// `nil` when a feed is connected, or paused on purpose, and a city has a fresh reading; else what is missing, in
    /// one line.
    func readinessProblem(at now: Timestamp) -> String? {
        let isReady = feeds.contains { feed in
            (feed.isConnected || feed.isPaused) && states.indices.contains { isFresh($0, of: feed, at: now) }
        }
        if isReady { return nil }
        let reasons = feeds.map { "\($0.label): \($0.state(at: now))" }
        return "no fresh reading: " + (reasons.isEmpty ? "no feed" : reasons.joined(separator: "; "))
    }

    /// Whether the city's newest reading arrived within the feed's idle time-out, or within twice the time between its
    /// last two points: the pace of its own. While that is not known, a repetition will do; while the feed is paused,
    /// any reading.
    private func isFresh(_ city: Int, of feed: FeedStatistics, at now: Timestamp) -> Bool {
        let state = states[city]
        let age = now - state.receivedAt
        if feed.isPaused || feed.idleTimeout == 0 || age <= feed.idleTimeout { return true }
        guard histories[city].count > 1 else { return feed.lastReadingAt.map { now - $0 <= feed.idleTimeout } ?? false }
        let points = points(of: city)
        return age <= 2 * (points[points.count - 1].time - points[points.count - 2].time)
    }
}

extension FeedStatistics {
    /// The reason why no readings come, in one line.
    fileprivate func state(at now: Timestamp) -> String {
        guard isConnected else { return "not connected" + (lastProblem.map { " (\($0))" } ?? "") }
        if let reason = connection.reasonOfAll { return "readings rejected: \(explanation(of: reason))" }
        guard let lastMessageAt else { return "connected, no message yet" }
        if connection.readings == 0, connection.messagesWithoutReadings > 0 {
            return "messages without readings: \(explanation(of: nil))"
        }
        let silence = now - lastMessageAt
        return silence <= idleTimeout ? "messages without a new reading" : "no message for \(silence / 1000) s"
    }

    /// Without escapes in the hint, so that it can be pasted into a shell.
    private func explanation(of reason: RejectionReason?) -> String {
        details(of: reason).text + (hint(of: reason).map { ", to set: \($0)" } ?? "")
    }
}
