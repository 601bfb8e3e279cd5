import AirQuality
import Bytes
import CommandLine
import HTTPServer
import System

/// Whether the exporter works, whether it has readings to give, and why not.
struct Health: Sendable {
    var store: ReadingStore

    /// `nil` when the store can be locked within a second, else what is wrong, in one line. Blocks so long.
    func livenessProblem(limit: Duration = .seconds(1)) -> String? {
        let deadline = monotonicTime() + limit
        while !store.isUnlocked {
            guard monotonicTime() < deadline else { return "the store has been locked for more than a second" }
            pauseThread(for: .milliseconds(10))
        }
        return nil
    }

    /// `nil` when a feed is connected, or paused on purpose, and a city has a fresh reading; else what is missing, in
    /// one line.
    var readinessProblem: String? { readinessProblem(of: store.snapshot(withHistories: true), at: currentTime()) }

    func readinessProblem(of snapshot: StoreSnapshot, at now: Timestamp) -> String? {
        let isFresh = snapshot.feeds.contains { feed in
            (feed.isConnected || feed.isPaused)
                && snapshot.order.contains { snapshot.isFresh($0, of: feed, at: now) }
        }
        if isFresh { return nil }
        let states = snapshot.feeds.map { "\($0.label): \($0.state(at: now))" }
        return "no fresh reading: " + (states.isEmpty ? "no feed" : states.joined(separator: "; "))
    }

    /// The hint of the page: why a connected feed gives no readings, and what to set. It does not name the feed, whose
    /// address is nobody's business who can read the page.
    func hint(of feeds: [FeedStatistics]) -> String? {
        for feed in feeds where feed.isConnected && feed.connection.readings == 0 {
            let reason = feed.connection.reasonOfAll
            guard reason != nil || feed.connection.messagesWithoutReadings > 0 else { continue }
            let problem = reason.map { "All readings are rejected (\($0.rawValue))" } ?? "Messages are without readings"
            let fields = feed.explanations[reason] ?? []
            let details = fields.filter { $0.name != "hint" }.map { "\($0.name) \($0.text)" }
            let advice = feed.hint(of: reason).map { " To set: \($0)" } ?? ""
            return ([problem] + details).joined(separator: ", ") + "." + advice
        }
        return nil
    }

    /// Whether no feed is connected and heard of, or paused on purpose.
    func isStale(_ feeds: [FeedStatistics], at now: Timestamp) -> Bool {
        !feeds.contains { feed in
            let age = feed.lastMessageAt.map { now - $0 } ?? .max
            let isInTime = feed.idleTimeout == 0 ? feed.lastMessageAt != nil : age <= feed.idleTimeout
            return feed.isPaused || (feed.isConnected && isInTime && feed.connection.reasonOfAll == nil)
        }
    }
}

extension FeedStatistics {
    /// The reason why no readings come, in one line.
    fileprivate func state(at now: Timestamp) -> String {
        guard isConnected else { return "not connected" + (lastProblem.map { " (\($0))" } ?? "") }
        if let reason = connection.reasonOfAll {
            return "readings rejected: \(explanation(of: reason))"
        }
        guard let lastMessageAt else { return "connected, no message yet" }
        if connection.readings == 0, connection.messagesWithoutReadings > 0 {
            return "messages without readings: \(explanation(of: nil))"
        }
        return "no message for \((now - lastMessageAt) / 1000) s"
    }

    /// Without escapes in the hint, so that it can be pasted into a shell.
    private func explanation(of reason: RejectionReason?) -> String {
        details(of: reason).text + (hint(of: reason).map { ", to set: \($0)" } ?? "")
    }
}

extension StoreSnapshot {
    /// Whether the city's newest reading arrived within the feed's idle time-out, or within twice the time between its
    /// last two points: the pace of its own. While the feed is paused, any reading will do.
    fileprivate func isFresh(_ city: Int, of feed: FeedStatistics, at now: Timestamp) -> Bool {
        let state = states[city]
        let age = now - state.receivedAt
        if feed.isPaused || feed.idleTimeout == 0 || age <= feed.idleTimeout { return true }
        guard histories.indices.contains(city), histories[city].count > 1 else { return false }
        let points = points(of: city)
        return age <= 2 * (points[points.count - 1].time - points[points.count - 2].time)
    }
}
