import AirQuality
import HTTPServer
import Synchronization

/// Answers `/events`: server-sent events of what changed, made once for all listeners, at most one a second.
///
/// The newest events are kept in a ring that all listeners read from. A listener so slow that its next event has left the
/// ring is hung up on, comes back with `Last-Event-ID`, and gets the present state of what it missed. So what a listener
/// costs does not depend on how slow it is.
final class EventHub: Sendable {
    private let store: ReadingStore
    private let limit: Int
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
        var listeners: [ObjectIdentifier: HTTPStream] = [:]
        var events: [[UInt8]] = []
        /// Of the first of them; they count up for ever.
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
    ///   - limit: listeners at once.
    ///   - onFirst: called when there is a listener after there was none: now ``nextTickAt`` is one.
    init(store: ReadingStore, limit: Int, onFirst: @escaping @Sendable () -> Void, at now: Timestamp) {
        self.store = store
        self.limit = limit
        self.onFirst = onFirst
        instance = now
    }

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    // MARK: Listeners

    private static let headers = [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        if request.method == "HEAD" { return HTTPResponse(status: 200, headers: Self.headers, body: .bytes([])) }
        guard let stream = listen(after: request.header("Last-Event-ID")) else {
            return HTTPResponse(
                status: 503, headers: [("Retry-After", "10")], line: "too many listeners, expected at most \(limit)")
        }
        return HTTPResponse(status: 200, headers: Self.headers, body: .stream(stream))
    }

    /// nil when there are too many.
    private func listen(after id: String?) -> HTTPStream? {
        let version = store.snapshot().version
        let missed = id.map { known($0, at: version) ?? 0 }
        let (stream, isFirst) = state.withLock { state -> (HTTPStream?, Bool) in
            guard state.listeners.count < limit else { return (nil, false) }
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
                read: { [self] in read(listener, maximum: $0) }, onEnd: { [self] in remove(listener) })
            state.listeners[ObjectIdentifier(listener)] = stream
            return (stream, isFirst)
        }
        if isFirst { onFirst() }
        return stream
    }

    private func remove(_ listener: EventListener) {
        state.withLock { $0.listeners[ObjectIdentifier(listener)] = nil }
    }

    private func id(of version: UInt64) -> String { "\(version).\(instance)" }

    /// The version that an identifier of ours names.
    private func known(_ id: String, at current: UInt64) -> UInt64? {
        let parts = id.split(separator: ".")
        guard parts.count == 2, parts[1] == String(instance), let version = UInt64(parts[0]), version <= current
        else { return nil }
        return version
    }

    /// On the server's thread.
    private func read(_ listener: EventListener, maximum: Int) -> HTTPStream.Content {
        listener.state.withLock { listener in
            while listener.unsent.isEmpty, let missed = listener.missed {
                guard let position = missed.position else {
                    listener.missed = nil
                    break
                }
                // In small portions, each from the present state: little is held for a slow client.
                let (event, next) = CityEvents.next(
                    store.snapshot(), changedSince: missed.version, position: position, maximum: 200
                ) { $0 ? missed.id : nil }
                listener.missed?.position = next
                listener.unsent = event?[...] ?? []
            }
            if listener.missed == nil {
                let next = state.withLock { state -> [UInt8]?? in
                    let place = listener.nextNumber - state.firstNumber
                    guard place >= 0 else { return nil }
                    return .some(place < state.events.count ? state.events[place] : nil)
                }
                // Hang up even in the middle of an event: only this listener still keeps that event in memory.
                guard let next else { return .end }
                if listener.unsent.isEmpty {
                    guard let event = next else { return .none }
                    listener.nextNumber += 1
                    listener.unsent = event[...]
                }
            }
            defer { listener.unsent = listener.unsent.dropFirst(maximum) }
            return .bytes(listener.unsent.prefix(maximum))
        }
    }

    // MARK: Events

    /// When ``tick(at:)`` has something to do; nil without listeners.
    var nextTickAt: Duration? {
        state.withLock { $0.listeners.isEmpty ? nil : $0.nextTickAt }
    }

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
        let listeners = state.withLock { state -> [HTTPStream] in
            state.nextTickAt = now + Self.interval
            state.walk = position.map { ($0, version) }
            if position == nil { state.sentVersion = version }
            if state.lastEventAt == nil { state.lastEventAt = now }
            let isQuiet = event == nil && now - state.lastEventAt! >= Self.heartbeatInterval
            guard let event = event ?? (isQuiet ? Array(":\n\n".utf8) : nil) else { return [] }
            state.lastEventAt = now
            state.events.append(event)
            if state.events.count > Self.keptEvents {
                state.events.removeFirst()
                state.firstNumber += 1
            }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.wake() }
    }
}

/// What one listener is to be sent.
private final class EventListener: Sendable {
    let state: Mutex<State>

    struct State: Sendable {
        /// The number of the event after `unsent`.
        var nextNumber: Int
        /// The changes since a version that must be sent before that event: where to continue (nil when only `unsent`
        /// is left), the version, and the identifier of the last part.
        var missed: (position: Int?, version: UInt64, id: String)?
        /// At first the delay before a reconnect, and a comment that the client receives at once.
        var unsent: ArraySlice<UInt8> = Array("retry: 2000\n:\n\n".utf8)[...]
    }

    init(nextNumber: Int, missed: (position: Int?, version: UInt64, id: String)?) {
        state = Mutex(State(nextNumber: nextNumber, missed: missed))
    }
}
