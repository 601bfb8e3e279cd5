internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System

/// The open connections of a server: whether one more may come, and which of them are overdue.
///
/// libmicrohttpd must not meet a limit of its own: it then leaves a mutex locked, and accepts no more (0.9.75 to
/// 0.9.77, `new_connection_process_`).
final class ConnectionTable: Sendable {
    private let state: Mutex<State>

    private struct State {
        var quota: Quota
        var open: [Int32: HTTPConnection] = [:]
        /// Connections that were shut down to make room, until they have ended.
        var leaving: Set<Int32> = []
        /// The most connections since memory was last given back.
        var peak = 0
        var isEnding = false
    }

    /// Connections beyond the limit, until those that make room for them have ended.
    private static let maximumLeaving = 16

    init(limit: Int, limitPerClient: Int) {
        state = Mutex(State(quota: Quota(limit: limit, limitPerClient: min(limitPerClient, limit))))
    }

    // MARK: - Accepting

    /// Whether a connection of the client may begin.
    ///
    /// Where all places are taken, an idle connection of the client with the most is shut down, if this one then still
    /// has fewer.
    func admits(_ client: [UInt8]) -> Bool {
        state.withLock { state in
            let own = state.quota.count(of: client)
            guard !state.isEnding, own < state.quota.limitPerClient else { return false }
            let excess = state.quota.total - state.leaving.count - state.quota.limit
            guard excess >= 0 else { return true }
            guard state.leaving.count < Self.maximumLeaving,
                let most = state.quota.counts.max(by: { $0.value < $1.value }), most.value > own + 1
            else { return false }
            let idle = state.open.values.filter {
                $0.client == most.key && $0.isIdle && !state.leaving.contains($0.socket)
            }
            guard let victim = idle.min(by: { $0.deadline < $1.deadline }) else { return false }
            state.leaving.insert(victim.socket)
            victim.shutDown()
            return true
        }
    }

    func insert(_ connection: HTTPConnection) {
        state.withLock { state in
            state.quota.add(of: connection.client)
            state.open[connection.socket] = connection
            state.peak = max(state.peak, state.open.count)
        }
    }

    /// To be called before the socket is closed.
    func remove(_ connection: HTTPConnection) {
        state.withLock { state in
            guard state.open.removeValue(forKey: connection.socket) != nil else { return }
            state.leaving.remove(connection.socket)
            state.quota.remove(of: connection.client)
        }
    }

    // MARK: - Streams

    /// Sets the stream that the connection sends; it is cancelled when the client has gone, or the server ends.
    func setStream(_ stream: HTTPStream?, of connection: HTTPConnection) {
        let isEnding = state.withLock { state in
            connection.stream = stream
            return state.isEnding
        }
        if isEnding { stream?.cancel() }
    }

    // MARK: - Ending

    /// Shuts down what is overdue, and ends streams whose client has gone, which a thread that waits for an event does
    /// not notice.
    func sweep(at now: Duration) {
        let abandoned = state.withLock { state in
            var listeners: [Int32: HTTPStream] = [:]
            // Under the lock although these are calls of C, which do not block: a connection leaves the table before
            // its socket is closed, so the number is still this connection's.
            for connection in state.open.values {
                if connection.isOverdue(at: now) {
                    connection.isIdle ? connection.shutDown() : connection.abort()
                }
                if let stream = connection.stream { listeners[connection.socket] = stream }
            }
            return endedSockets(among: listeners.keys).compactMap { listeners[$0] }
        }
        for stream in abandoned { stream.cancel() }
        if hasShrunk() { malloc_trim(0) }
    }

    /// Whether half of many connections have ended: then the allocator should give memory back, which lies between what
    /// is in use.
    private func hasShrunk() -> Bool {
        state.withLock { state in
            guard state.peak >= 128, state.open.count <= state.peak / 2 else { return false }
            state.peak = state.open.count
            return true
        }
    }

    /// Admits nobody from now on, ends all events, and shuts down what is idle.
    func beginToEnd() {
        let streams = state.withLock { state in
            state.isEnding = true
            for connection in state.open.values where connection.isIdle { connection.shutDown() }
            return state.open.values.compactMap(\.stream)
        }
        for stream in streams { stream.cancel() }
    }
}

/// `POLLRDHUP` of poll(2), which glibc's headers give to `_GNU_SOURCE` only.
private let endOfPeer: Int16 = 0x2000

/// The sockets whose peer has closed its side, or the connection.
private func endedSockets(among sockets: some Sequence<Int32>) -> [Int32] {
    var entries = sockets.map { pollfd(fd: $0, events: endOfPeer, revents: 0) }
    guard !entries.isEmpty, unsafe poll(&entries, nfds_t(entries.count), 0) > 0 else { return [] }
    return entries.filter { $0.revents != 0 }.map(\.fd)
}
