internal import Synchronization
internal import System

/// Tells the listeners of a path what is new, as server-sent events. Only the newest event counts: a listener that is
/// slow misses those before it, and costs no memory.
///
///     let changes = EventBroadcast()
///     let route = Route("/events") { _ in
///         HTTPResponse(
///             status: 200, headers: [("Content-Type", "text/event-stream")],
///             body: .stream(changes.listen(greeting: Array("retry: 2000\n\n".utf8))))
///     }
///     changes.send(Array("event: change\nid: 7\ndata: {}\n\n".utf8))
public final class EventBroadcast: Sendable {
    private let heartbeat: Duration
    private let state = Monitor(State())

    private struct State {
        /// The newest event, and how many there were.
        var event: [UInt8] = []
        var eventCount = 0
        var listenerCount = 0
    }

    /// - Parameter heartbeat: a comment is sent when nothing else was for so long.
    public init(heartbeat: Duration = .seconds(15)) { self.heartbeat = heartbeat }

    public var listenerCount: Int { state.read(\.listenerCount) }

    /// Sends an event to all listeners; any thread, does not block.
    public func send(_ event: [UInt8]) {
        state.change { state in
            state.event = event
            state.eventCount += 1
        }
    }

    /// The stream of one more listener: the greeting, then each event that is sent from now on.
    ///
    /// - Parameter greeting: at least one byte.
    public func listen(greeting: [UInt8]) -> HTTPStream {
        let known = state.change { state in
            state.listenerCount += 1
            return state.eventCount
        }
        let listener = Listener(known: known, greeting: greeting)
        return HTTPStream(
            next: { [self] in next(for: listener) },
            cancel: { [state] in state.change { _ in listener.isEnded.store(true, ordering: .relaxed) } },
            onEnd: { [state] in state.change { $0.listenerCount -= 1 } })
    }

    private func next(for listener: Listener) -> [UInt8]? {
        if let greeting = listener.takeGreeting() { return greeting }
        let news = state.wait(until: monotonicTime() + heartbeat) { state -> News? in
            if listener.isEnded.load(ordering: .relaxed) { return .end }
            guard state.eventCount != listener.known.load(ordering: .relaxed) else { return nil }
            listener.known.store(state.eventCount, ordering: .relaxed)
            return .event(state.event)
        }
        switch news {
        case .event(let bytes): return bytes
        case .end: return nil
        case nil: return Array(":\n\n".utf8)
        }
    }

    private enum News {
        case event([UInt8])
        case end
    }

    private final class Listener: Sendable {
        /// The events that it has been sent, or has missed.
        let known: Atomic<Int>
        let isEnded = Atomic(false)
        private let greeting: Mutex<[UInt8]?>

        init(known: Int, greeting: [UInt8]) {
            self.known = Atomic(known)
            self.greeting = Mutex(greeting)
        }

        func takeGreeting() -> [UInt8]? { greeting.withLock { $0.take() } }
    }
}
