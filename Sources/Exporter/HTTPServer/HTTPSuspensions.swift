internal import Synchronization
internal import System

/// A request whose connection sleeps until another thread has made its response or checked its password.
final class HTTPSuspension: Sendable {
    enum Outcome: Sendable {
        case response(HTTPResponse)
        case isPasswordRight(Bool)
        /// The client has gone, or the server stops.
        case abandoned

        /// To be called when it is not used.
        func discard() {
            if case .response(let response) = self, case .stream(let stream) = response.body { stream.finish() }
        }
    }

    private let socket: Int32
    private let overdueAt: Duration
    private let overdue: @Sendable () -> HTTPResponse
    private let state: Mutex<State>

    private struct State {
        /// Nil once it has been resumed.
        var connection: MHDConnection?
        var outcome: Outcome?
    }

    /// - Parameter overdue: what it gets when nothing comes in time.
    init(
        _ connection: MHDConnection, socket: Int32, timeLimit: Duration, overdue: @escaping @Sendable () -> HTTPResponse
    ) {
        self.socket = socket
        overdueAt = monotonicTime() + timeLimit
        self.overdue = overdue
        // Before anybody can finish it: resumed first, the connection would sleep on.
        connection.suspend()
        state = Mutex(State(connection: connection))
    }

    /// Resumes the connection; only the first call does anything. Any thread.
    func finish(_ outcome: Outcome) {
        let isLate = state.withLock { state in
            guard let connection = state.connection.take() else { return true }
            state.outcome = outcome
            connection.resume()
            return false
        }
        if isLate { outcome.discard() }
    }

    func takeOutcome() -> Outcome? { state.withLock { $0.outcome.take() } }

    /// Whether the work for it is still to be done; asked when its turn has come.
    func isWanted() -> Bool {
        endIfAbandoned(at: monotonicTime())
        return state.withLock { $0.connection != nil }
    }

    /// A client that has closed its side has gone: libmicrohttpd gives no response to one whose end it reads first.
    func endIfAbandoned(at now: Duration) {
        if overdueAt < now { return finish(.response(overdue())) }
        state.withLock { state in
            // Under the lock although it is a call of C, which does not block: a suspended connection is not closed, so
            // the number is still its socket's.
            guard state.connection != nil, !abandonedSockets(of: [socket]).isEmpty else { return }
            state.outcome = .abandoned
            state.connection.take()?.resume()
        }
    }
}

/// The connections that sleep, or may sleep, so that they can be ended: a suspended connection is not looked at by libmicrohttpd, and a
/// daemon cannot stop while there is one.
final class HTTPSuspensions: Sendable {
    enum Sleeper: Sendable {
        case request(HTTPSuspension)
        case stream(HTTPStream)
    }

    private let state = Mutex(State())

    private struct State: Sendable {
        var sleepers: [Int32: Sleeper] = [:]
        var eventsAreEnded = false
        var allAreEnded = false

        func isEnded(_ sleeper: Sleeper) -> Bool {
            if case .stream(let stream) = sleeper, stream.isEndless, eventsAreEnded { return true }
            return allAreEnded
        }
    }

    func insert(_ sleeper: Sleeper, on socket: Int32) {
        let isEnded = state.withLock { state in
            state.sleepers[socket] = sleeper
            return state.isEnded(sleeper)
        }
        if isEnded { Self.end(sleeper) }
    }

    func remove(on socket: Int32) { _ = state.withLock { $0.sleepers.removeValue(forKey: socket) } }

    private static func end(_ sleeper: Sleeper) {
        switch sleeper {
        case .request(let request): request.finish(.abandoned)
        case .stream(let stream): stream.end()
        }
    }

    /// Ends the requests that are overdue, and requests and events whose client has gone. Documents are never suspended
    /// for long.
    func endAbandoned(at now: Duration) {
        let (requests, streams) = state.withLock { state -> ([HTTPSuspension], [HTTPStream]) in
            var requests: [HTTPSuspension] = []
            var events: [Int32: HTTPStream] = [:]
            for (socket, sleeper) in state.sleepers {
                switch sleeper {
                case .request(let request): requests.append(request)
                case .stream(let stream): if stream.isEndless { events[socket] = stream }
                }
            }
            // Under the lock although it is a call of C, which does not block: a stream leaves the table before its
            // socket is closed, so the number is still this stream's.
            return (requests, abandonedSockets(of: events.keys).compactMap { events[$0] })
        }
        for request in requests { request.endIfAbandoned(at: now) }
        for stream in streams { stream.end() }
    }

    /// Ends all streams of events, and those that still begin.
    func endEvents() { endAll { $0.eventsAreEnded = true } }

    /// Ends all.
    func endAll() { endAll { $0.allAreEnded = true } }

    private func endAll(_ change: (inout State) -> Void) {
        let sleepers = state.withLock { state in
            change(&state)
            return state.sleepers.values.filter { state.isEnded($0) }
        }
        for sleeper in sleepers { Self.end(sleeper) }
    }
}
