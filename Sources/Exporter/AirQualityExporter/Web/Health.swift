import AirQuality
import Bytes
import CommandLine
import HTTPServer
import System

/// The responses of the health paths.
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

    /// `nil` when a feed is connected and fresh, or paused on purpose, else what is missing, in one line.
    var readinessProblem: String? {
        readinessProblem(of: store.feeds, at: currentTime())
    }

    func readinessProblem(of feeds: [FeedStatistics], at now: Timestamp) -> String? {
        staleness(of: feeds, at: now).map { "no fresh feed: \($0)" }
    }

    /// nil when a feed is connected and fresh, or paused on purpose, else what each feed is, in one line.
    func staleness(of feeds: [FeedStatistics], at now: Timestamp) -> String? {
        var reasons: [String] = []
        for feed in feeds {
            if feed.isPaused { return nil }
            if !feed.isConnected {
                reasons.append("\(feed.label): not connected" + (feed.lastProblem.map { " (\($0))" } ?? ""))
            } else if let reason = feed.connection.reasonOfAll {
                reasons.append("\(feed.label): readings rejected: \(Logger.Metadata(reason, of: feed.connection).text)")
            } else if let last = feed.lastMessageAt {
                let age = now - last
                if feed.idleTimeout == 0 || age <= feed.idleTimeout { return nil }
                reasons.append("\(feed.label): no message for \(age / 1000) s")
            } else {
                reasons.append("\(feed.label): connected, no message yet")
            }
        }
        return reasons.joined(separator: "; ")
    }

    /// The hint of `/about` about rejected readings; without the feed, whose address is nobody's business who can read them.
    func hint(of feeds: [FeedStatistics]) -> String? {
        for feed in feeds where feed.isConnected {
            guard let reason = feed.connection.reasonOfAll else { continue }
            return "All readings are rejected: \(Logger.Metadata(reason, of: feed.connection).text)"
        }
        return nil
    }
}
