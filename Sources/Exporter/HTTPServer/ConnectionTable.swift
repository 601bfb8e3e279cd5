internal import CLibMicroHTTPD
internal import System

/// The open connections of a server: whether one more may come, and which of them are overdue.
///
/// libmicrohttpd must not meet a limit of its own: it then leaves a mutex locked, and accepts no more (0.9.75 to
/// 0.9.77, `new_connection_process_`).
final class ConnectionTable: Sendable {
    // A connection leaves the table before its socket is closed, so under the lock the number is still this
    // connection's. The calls of C under it do not block.
    private let state = Monitor(State())
    private let limit = OpenFileLimit.raise(forConnections: HTTPLimits.connections)

    private struct State {
        /// By the number of their socket.
        var open: [Int32: HTTPConnection] = [:]
        /// The connections that there were at the last sweep.
        var previousCount = 0
        var isEnding = false
    }

    /// Whether a connection of the client may begin. Where all places are taken, an idle connection of the client with
    /// the most is shut down, if this one then still has fewer.
    func admits(_ client: [UInt8]) -> Bool {
        state.change { state in
            let own = state.open.values.count { $0.client == client }
            guard !state.isEnding, own < HTTPLimits.connectionsPerClient else { return false }
            guard state.open.count >= limit else { return true }
            var counts: [[UInt8]: Int] = [:]
            for connection in state.open.values { counts[connection.client, default: 0] += 1 }
            guard let most = counts.max(by: { $0.value < $1.value }), most.value > own + 1 else { return false }
            let idle = state.open.values.filter { $0.client == most.key && $0.progress.isIdle }
            guard let victim = idle.min(by: { $0.progress.deadline < $1.progress.deadline }) else { return false }
            state.open[victim.socket] = nil
            victim.shutDown()
            return true
        }
    }

    func insert(_ connection: HTTPConnection) {
        state.change { state in
            state.open[connection.socket] = connection
            // The connection was admitted before the end began.
            if state.isEnding { connection.shutDown() }
        }
    }

    /// To be called before the socket is closed.
    func remove(_ connection: HTTPConnection) { state.change { $0.open[connection.socket] = nil } }

    /// Shuts down what is overdue, and ends streams whose client has gone, which a thread that waits for an event does
    /// not notice.
    func sweep(at now: Duration) {
        let hasShrunk = state.change { state in
            for connection in state.open.values {
                let progress = connection.progress
                if let stream = progress.stream, connection.hasPeerLeft { stream.end() }
                guard progress.isOverdue(at: now) else { continue }
                if progress.isIdle { connection.shutDown() } else { connection.abort() }
            }
            defer { state.previousCount = state.open.count }
            return state.open.count < state.previousCount
        }
        // Memory that lies between what is in use goes back to the system.
        if hasShrunk { malloc_trim(0) }
    }

    /// Admits nobody from now on, ends streams and idle connections, waits until no request is under way, and ends what
    /// is left after `limit`. Blocks; false when a connection is still there a second later.
    func end(within limit: Duration) -> Bool {
        let deadline = monotonicTime() + limit
        state.change { $0.isEnding = true }
        while true {
            let now = monotonicTime()
            let left = state.read { state in
                for connection in state.open.values {
                    let progress = connection.progress
                    progress.stream?.end()
                    if progress.isIdle || progress.stream != nil || now >= deadline { connection.shutDown() }
                }
                return state.open.count
            }
            if left == 0 { return true }
            if now >= deadline + .seconds(1) { return false }
            pauseThread(for: .milliseconds(5))
        }
    }
}
