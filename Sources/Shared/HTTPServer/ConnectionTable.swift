internal import CLibMicroHTTPD
internal import System

/// The open connections of a server: decides whether to admit another one, and which ones are overdue.
///
/// libmicrohttpd must never reach its own limit: it then leaves a mutex locked, and accepts no more (0.9.75 to
/// 0.9.77, `new_connection_process_`).
final class ConnectionTable: Sendable {
    // A connection leaves the table before its socket is closed, so under the lock the descriptor is still its own.
    // The C functions called under the lock do not block.
    private let state = Monitor(State())
    private let limit = TaskLimit.room(forConnections: OpenFileLimit.raise(forConnections: HTTPLimits.connections))

    private struct State {
        /// By socket descriptor.
        var open: [Int32: HTTPConnection] = [:]
        var previousCount = 0
        var isEnding = false
    }

    /// Whether to admit a connection of the client. When the table is full, shuts down an idle connection of the
    /// client with the most, provided that it has at least two more than this client.
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
            // Admitted before `end` was called.
            if state.isEnding { connection.shutDown() }
        }
    }

    /// Whether the client has more connections than are served without pauses.
    func hasMany(_ client: [UInt8]) -> Bool {
        state.read { $0.open.values.count { $0.client == client } > HTTPLimits.unpacedConnectionsPerClient }
    }

    /// Must be called before the socket is closed.
    func remove(_ connection: HTTPConnection) { state.change { $0.open[connection.socket] = nil } }

    /// Shuts down overdue connections, and ends streams whose client has left: threads waiting for events miss that.
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
        // Returns free memory between blocks in use to the system.
        if hasShrunk { malloc_trim(0) }
    }

    /// Admits no more connections, ends streams and idle connections, waits for requests in progress, and shuts down
    /// what is left after `limit`. Blocks; returns `false` if a connection still exists a second later.
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
