import Bytes
import Synchronization
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
        let line: String
        switch event {
        case .connecting, .paused, .resumed, .disconnected(.requested, _, _): return
        case .connected: line = "\(verb) \(feed)"
        case .disconnected(let reason, let detail, _): line = "\(feed): \(reason.rawValue): \(detail); dialling again"
        }
        let isNew = lastSaid.withLock { last in
            defer { last = line }
            return line != last
        }
        if isNew { say(line) }
    }
}
