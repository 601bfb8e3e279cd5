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

    private let overdueAt: Duration
    private let overdue: @Sendable () -> HTTPResponse
    private let state: Mutex<State>

    private struct State {
        /// Nil once it has been resumed.
        var connection: HTTPConnection?
        var outcome: Outcome?
    }

    /// - Parameter overdue: what it gets when nothing comes in time.
    init(_ connection: HTTPConnection, timeLimit: Duration, overdue: @escaping @Sendable () -> HTTPResponse) {
        overdueAt = monotonicTime() + timeLimit
        self.overdue = overdue
        // Before anybody can finish it: resumed first, the connection would sleep on.
        connection.handle.suspend()
        state = Mutex(State(connection: connection))
    }

    /// Resumes the connection; only the first call does anything. Any thread.
    func finish(_ outcome: Outcome) {
        let isLate = state.withLock { state in
            guard let connection = state.connection.take() else { return true }
            state.outcome = outcome
            connection.handle.resume()
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
            guard let connection = state.connection, !abandonedSockets(of: [connection.socket]).isEmpty else { return }
            state.outcome = .abandoned
            state.connection = nil
            connection.handle.resume()
        }
    }
}

/// What sleeps on a connection, or may sleep. It must be possible to end it: libmicrohttpd does not look at a suspended
/// connection, and a daemon cannot stop while there is one.
enum HTTPSleeper: Sendable {
    case request(HTTPSuspension)
    case stream(HTTPStream)

    func end() {
        switch self {
        case .request(let request): request.finish(.abandoned)
        case .stream(let stream): stream.end()
        }
    }
}
