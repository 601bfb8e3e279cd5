import Synchronization
import System

/// Counts the failed TLS handshakes of HTTP clients, and logs at most one a minute, because anybody can make them fail.
final class HandshakeFailures: Sendable {
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var count = 0
        /// Failures up to the last line.
        var loggedCount = 0
        var lines = TokenBucket(each: .seconds(60))
    }

    init(logger: Logger) { self.logger = logger }

    var count: Int { state.withLock { $0.count } }

    func note(client: String, reason: String, at now: Duration = monotonicTime()) {
        let suppressed = state.withLock { state -> Int? in
            state.count += 1
            guard state.lines.take(at: now) else { return nil }
            defer { state.loggedCount = state.count }
            return state.count - state.loggedCount - 1
        }
        guard let suppressed else { return }
        logger.warning(
            "TLS handshake failed",
            metadata: ["client": client, "err": reason, "suppressed": "\(suppressed)"])
    }
}
