import AirQuality
import HTTPServer
import System

/// Serves `/events`: announces changes at most once a second, upon which the page fetches itself again.
final class EventHub: Sendable {
    private let store: ReadingStore
    private let heartbeat: Duration
    /// Part of every event id, so that versions of another process's store are not mistaken for ours.
    private let instance: Timestamp
    private let state = Monitor(State())

    private struct State {
        /// The store's version in the newest event. A slow listener misses earlier ones.
        var version: UInt64 = 0
        /// The last version sent to each listener, by its ID.
        var listeners: [Int: UInt64] = [:]
        var lastNumber = 0
        var nextTickAt = Duration.zero
    }

    /// - Parameter heartbeat: idle time after which a comment is sent.
    init(store: ReadingStore, heartbeat: Duration = .seconds(15), at now: Timestamp) {
        self.store = store
        self.heartbeat = heartbeat
        instance = now
    }

    var listenerCount: Int { state.read(\.listeners.count) }

    private static let headers = [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
    ]

    @Sendable func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.method == "HEAD" { return HTTPResponse(status: 200, headers: Self.headers, body: .bytes([])) }
        let version = store.version
        // The reconnect delay, and a comment that the client receives at once.
        var greeting = Array("retry: 2000\n:\n\n".utf8)
        if let known = request.header("Last-Event-ID"), known != id(of: version) { greeting += event(version) }
        let listenerID = state.change { state in
            state.lastNumber += 1
            state.listeners[state.lastNumber] = version
            return state.lastNumber
        }
        let stream = HTTPStream(
            greeting: greeting, next: { [self] in next(for: listenerID) },
            end: { [state] in state.change { _ = $0.listeners.removeValue(forKey: listenerID) } })
        return HTTPResponse(status: 200, headers: Self.headers, body: .stream(stream))
    }

    private func next(for listenerID: Int) -> [UInt8] {
        state.wait(until: monotonicTime() + heartbeat) { state -> [UInt8]? in
            guard let known = state.listeners[listenerID] else { return [] }
            guard known < state.version else { return nil }
            state.listeners[listenerID] = state.version
            return event(state.version)
        } ?? Array(":\n\n".utf8)
    }

    private func id(of version: UInt64) -> String { "\(version).\(instance)" }

    private func event(_ version: UInt64) -> [UInt8] {
        Array("event: change\nid: \(id(of: version))\ndata: {}\n\n".utf8)
    }

    /// Notifies listeners if a second has passed and something has changed. Called from one thread.
    func tick(at now: Duration) {
        guard state.read({ now >= $0.nextTickAt }) else { return }
        let version = store.version
        state.change { state in
            state.nextTickAt = now + .seconds(1)
            state.version = version
        }
    }
}
