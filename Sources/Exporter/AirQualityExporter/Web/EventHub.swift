import AirQuality
import Exposition
import HTTPServer
import Synchronization
import System

/// Serves `/events`: says that something has changed, at most once a second; the page then fetches itself again.
final class EventHub: Sendable {
    private let store: ReadingStore
    private let onFirst: @Sendable () -> Void
    /// Part of every event identifier, so that versions of another process's store are not mistaken for ours.
    private let instance: Timestamp
    private let changes: EventBroadcast
    private let state = Mutex(State())

    static let interval = Duration.seconds(1)

    private struct State {
        /// The version of the store that the newest event was about.
        var version: UInt64 = 0
        var nextTickAt = Duration.zero
    }

    /// - Parameters:
    ///   - heartbeat: a comment is sent when nothing else was for so long.
    ///   - onFirst: called when there is a listener after there was none: now ``nextTickAt`` is one.
    init(
        store: ReadingStore, heartbeat: Duration = .seconds(15), onFirst: @escaping @Sendable () -> Void,
        at now: Timestamp
    ) {
        changes = EventBroadcast(heartbeat: heartbeat)
        self.store = store
        self.onFirst = onFirst
        instance = now
    }

    var listenerCount: Int { changes.listenerCount }

    static let families: [Family<Int>] = [
        Family("airquality_exporter_event_listeners", .gauge, "Connected clients of /events.") { Double($0) }
    ]

    private static let headers = [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
    ]

    func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.method == "HEAD" { return HTTPResponse(status: 200, headers: Self.headers, body: .bytes([])) }
        let isFirst = listenerCount == 0
        let version = store.snapshot().version
        if isFirst { state.withLock { $0.version = version } }
        // The delay before a reconnect, and a comment that the client receives at once.
        var greeting = Array("retry: 2000\n:\n\n".utf8)
        if let known = request.header("Last-Event-ID"), known != id(of: version) { greeting += event(version) }
        let stream = changes.listen(greeting: greeting)
        if isFirst { onFirst() }
        return HTTPResponse(status: 200, headers: Self.headers, body: .stream(stream))
    }

    private func id(of version: UInt64) -> String { "\(version).\(instance)" }

    private func event(_ version: UInt64) -> [UInt8] {
        Array("event: change\nid: \(id(of: version))\ndata: {}\n\n".utf8)
    }

    /// When ``tick(at:)`` has something to do; `nil` without listeners.
    var nextTickAt: Duration? { listenerCount == 0 ? nil : state.withLock { $0.nextTickAt } }

    /// Tells the listeners if it is time and something has changed. From one thread.
    func tick(at now: Duration) {
        guard let next = nextTickAt, now >= next else { return }
        let version = store.snapshot().version
        let isNews = state.withLock { state in
            state.nextTickAt = now + Self.interval
            defer { state.version = version }
            return state.version != version
        }
        if isNews { changes.send(event(version)) }
    }
}
