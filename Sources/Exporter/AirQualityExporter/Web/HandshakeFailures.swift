import Synchronization
import System

/// A count of clients' failed TLS handshakes. Logs at most one a minute, because anyone can cause them.
final class HandshakeFailures: Sendable {
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var lines = TokenBucket(each: .seconds(60))
    }

    init(logger: Logger) { self.logger = logger }

    var count: Int { state.withLock { $0.count } }

    func note(client: String, reason: String, at now: Duration = monotonicTime()) {
        let isDue = state.withLock { state in
            state.count += 1
            return state.lines.take(at: now)
        }
        if isDue { logger.warning("TLS handshake failed", metadata: ["client": client, "err": reason]) }
    }
}
