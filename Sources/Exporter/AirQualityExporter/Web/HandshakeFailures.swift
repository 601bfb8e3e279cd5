import HTTPServer
import Synchronization
import System

/// Counts the failed TLS handshakes of HTTP clients, and logs at most one a minute, because anybody can make them fail.
final class HandshakeFailures: Sendable {
    private let logger: Logger
    private let state = Mutex(State(limit: LineLimit(.seconds(60))))

    private struct State {
        var count = 0
        var limit: LineLimit
    }

    init(logger: Logger) { self.logger = logger }

    var count: Int { state.withLock { $0.count } }

    func note(client: String, reason: String) {
        let suppressed = state.withLock { state in
            state.count += 1
            return state.limit.suppressed(before: monotonicTime())
        }
        guard let suppressed else { return }
        logger.warning(
            "TLS handshake failed",
            metadata: ["client": client, "err": reason, "suppressed": "\(suppressed)"])
    }
}
