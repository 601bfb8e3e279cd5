internal import Glibc
internal import Synchronization
internal import System

/// The open connections of a server, to hang up on those that are overdue.
///
/// libmicrohttpd's own time-out begins again with each byte, so a client that sends or takes one byte now and then
/// would stay for ever.
final class HTTPConnections: Sendable {
    private let open = Mutex<[Int32: HTTPConnection]>([:])
    /// Rings when there is a connection after there was none: from then on one can be overdue.
    let appeared: WakePipe
    /// The answers that stay open.
    let streams = HTTPStreams()

    init() throws(SystemError) {
        appeared = try WakePipe()
    }

    func insert(_ connection: HTTPConnection) {
        let isFirst = open.withLock { connections in
            connections[connection.socket] = connection
            return connections.count == 1
        }
        if isFirst { appeared.ring() }
    }

    func remove(_ connection: HTTPConnection) {
        _ = open.withLock { $0.removeValue(forKey: connection.socket) }
    }

    var isEmpty: Bool {
        open.withLock { $0.isEmpty }
    }

    /// Ends the overdue connections; libmicrohttpd notices and cleans up.
    func hangUpOnOverdue(at now: CoarseTime) {
        streams.endDeserted()
        open.withLock { connections in
            for (socket, connection) in connections where connection.isOverdue(at: now) {
                // Under the lock although it is a call of C: the connection leaves the table before its socket is
                // closed, so the number is still this connection's. The call does not block.
                _ = shutdown(socket, Int32(SHUT_RDWR))
            }
        }
    }
}
