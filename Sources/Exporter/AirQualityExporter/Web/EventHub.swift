import AirQuality
import Exposition
import HTTPServer
import Synchronization
import System

/// Answers `/events`: server-sent events of what changed, made once for all listeners, at most one a second.
///
/// The newest events are kept in a ring that all listeners read from. A listener so slow that its next event has left the
/// ring is disconnected, comes back with `Last-Event-ID`, and gets the present state of what it missed. So what a listener
/// costs does not depend on how slow it is.
final class EventHub: Sendable {
    private let store: ReadingStore
    private let queue: WorkQueue
    private let onFirst: @Sendable () -> Void
    /// Part of every event identifier, so that versions of another process's store are not mistaken for ours.
    private let instance: Timestamp
    private let state = Mutex(State())

    /// An event never has more cities: what else changed comes with the next one. This bounds what listeners cost a
    /// second, however many cities there are.
    static let citiesPerEvent = 1000
    static let keptEvents = 16
    static let interval = Duration.seconds(1)
    static let heartbeatInterval = Duration.seconds(15)

    private struct State: Sendable {
        var listeners: [ObjectIdentifier: (listener: EventListener, stream: HTTPStream)] = [:]
        var events: [[UInt8]] = []
        /// Of the first of them; they never repeat.
        var firstNumber = 0
        /// All changes up to this version of the store have been sent.
        var sentVersion: UInt64 = 0
        /// If the last event could not hold all changes: where to continue, and the version at which the walk began.
        var walk: (position: Int, version: UInt64)?
        /// nil before the first tick.
        var lastEventAt: Duration?
        var nextTickAt = Duration.zero
    }

    /// - Parameters:
    ///   - queue: where what a listener is sent is put together.
    ///   - onFirst: called when there is a listener after there was none: now ``nextTickAt`` is one.
    init(store: ReadingStore, queue: WorkQueue, onFirst: @escaping @Sendable () -> Void, at now: Timestamp) {
        self.store = store
        self.queue = queue
        self.onFirst = onFirst
        instance = now
    }

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    static let families: [Family<Int>] = [
        Family("airquality_exporter_event_listeners", .gauge, "Connected clients of /events.") { Double($0) }
    ]

    // MARK: Listeners

    private static let headers = [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.method == "HEAD" { return HTTPResponse(status: 200, headers: Self.headers, body: .bytes([])) }
        return HTTPResponse(
            status: 200, headers: Self.headers, body: .stream(listen(after: request.header("Last-Event-ID"))))
    }

    private func listen(after id: String?) -> HTTPStream {
        let version = store.snapshot().version
        let missed = id.map { known($0, at: version) ?? 0 }
        let (stream, isFirst) = state.withLock { state -> (HTTPStream, Bool) in
            let isFirst = state.listeners.isEmpty
            if isFirst {
                state.firstNumber += state.events.count
                state.events = []
                state.sentVersion = version
                state.walk = nil
                state.nextTickAt = .zero
                state.lastEventAt = nil
            }
            let listener = EventListener(
                nextNumber: state.firstNumber + state.events.count,
                missed: missed.map { (0, $0, self.id(of: state.sentVersion)) })
            let stream = HTTPStream(
                isEndless: true, queue: queue, next: { [self] in next(for: listener) },
                onEnd: { [self] in remove(listener) })
            state.listeners[ObjectIdentifier(listener)] = (listener, stream)
            return (stream, isFirst)
        }
        if isFirst { onFirst() }
        return stream
    }

    private func remove(_ listener: EventListener) { state.withLock { $0.listeners[ObjectIdentifier(listener)] = nil } }

    private func id(of version: UInt64) -> String { "\(version).\(instance)" }

    /// The version that an identifier of ours names.
    private func known(_ id: String, at current: UInt64) -> UInt64? {
        let parts = id.split(separator: ".")
        guard parts.count == 2, parts[1] == String(instance), let version = UInt64(parts[0]), version <= current
        else { return nil }
        return version
    }

    private func next(for listener: EventListener) -> HTTPStream.Content {
        listener.state.withLock { listener in
            if let greeting = listener.greeting.take() { return .bytes(greeting) }
            while let missed = listener.missed {
                // In small portions, each from the present state: little is held for a slow client.
                let (event, next) = CityEvents.next(
                    store.snapshot(), changedSince: missed.version, position: missed.position, maximum: 200
                ) { $0 ? missed.id : nil }
                listener.missed = next.map { ($0, missed.version, missed.id) }
                if let event { return .bytes(event) }
            }
            return state.withLock { state in
                let place = listener.nextNumber - state.firstNumber
                guard place >= 0 else { return .end }
                guard place < state.events.count else { return .none }
                listener.nextNumber += 1
                return .bytes(state.events[place])
            }
        }
    }

    // MARK: Events

    /// When ``tick(at:)`` has something to do; nil without listeners.
    var nextTickAt: Duration? { state.withLock { $0.listeners.isEmpty ? nil : $0.nextTickAt } }

    /// Makes the next event if it is time, and wakes the listeners. From one thread.
    func tick(at now: Duration) {
        guard let next = nextTickAt, now >= next else { return }
        let snapshot = store.snapshot()
        let (sent, walk) = state.withLock { ($0.sentVersion, $0.walk) }
        let version = walk?.version ?? snapshot.version
        let (event, position) =
            version == sent
            ? (nil, nil)
            : CityEvents.next(
                snapshot, changedSince: sent, position: walk?.position ?? 0, maximum: Self.citiesPerEvent
            ) { [self] isLast in id(of: isLast ? version : sent) }
        let (firstNumber, listeners) = state.withLock {
            state -> (Int, [(listener: EventListener, stream: HTTPStream)]) in
            state.nextTickAt = now + Self.interval
            state.walk = position.map { ($0, version) }
            if position == nil { state.sentVersion = version }
            if state.lastEventAt == nil { state.lastEventAt = now }
            let isQuiet = event == nil && now - state.lastEventAt! >= Self.heartbeatInterval
            guard let event = event ?? (isQuiet ? Array(":\n\n".utf8) : nil) else { return (state.firstNumber, []) }
            state.lastEventAt = now
            state.events.append(event)
            if state.events.count > Self.keptEvents {
                state.events.removeFirst()
                state.firstNumber += 1
            }
            return (state.firstNumber, Array(state.listeners.values))
        }
        for (listener, stream) in listeners {
            // Disconnected even in the middle of an event: only this listener still keeps that event in memory.
            if listener.state.withLock({ $0.missed == nil && $0.nextNumber < firstNumber }) {
                stream.end()
            } else {
                stream.wake()
            }
        }
    }
}

/// The events that one listener is still to be sent.
private final class EventListener: Sendable {
    let state: Mutex<State>

    struct State: Sendable {
        /// The number of the event that comes after what it has been given.
        var nextNumber: Int
        /// The changes since a version that must be sent before that event: where to continue, the version, and the
        /// identifier of the last part.
        var missed: (position: Int, version: UInt64, id: String)?
        /// The delay before a reconnect, and a comment that the client receives at once.
        var greeting: [UInt8]? = Array("retry: 2000\n:\n\n".utf8)
    }

    init(nextNumber: Int, missed: (position: Int, version: UInt64, id: String)?) {
        state = Mutex(State(nextNumber: nextNumber, missed: missed))
    }
}
