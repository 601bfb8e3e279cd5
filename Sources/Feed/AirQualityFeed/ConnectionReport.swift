import Bytes
import Synchronization
import System
import WebSocket

/// Says how the connection to a feed is: each state once, not each attempt.
final class ConnectionReport: Sendable {
    private let feed: String
    private let verb: String
    private let lastSaid = Mutex("")

    /// - Parameter verb: what is done with the feed while it is connected.
    init(of feed: String, verb: String) {
        self.feed = feed
        self.verb = verb
    }

    func receive(_ event: WebSocketEvent) {
        let (line, level): (String, Logger.Level)
        switch event {
        case .connecting, .paused, .resumed, .disconnected(.requested, _, _): return
        case .connected: (line, level) = ("\(verb) \(feed)", .info)
        case .disconnected(let reason, let detail, _):
            (line, level) = ("\(feed): \(reason.rawValue): \(detail); dialling again", .warning)
        }
        let isNew = lastSaid.withLock { last in
            defer { last = line }
            return line != last
        }
        if isNew { say(line, level: level) }
    }
}
