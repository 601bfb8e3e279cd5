internal import Glibc
internal import System

/// Runs on a server's thread: accepts clients, and hands messages out to them.
///
/// A message is in memory once, however many clients wait for it.
struct ServerLoop {
    /// Time that clients have to answer the close frame of `stop`.
    private static let closeTimeout: Duration = .seconds(1)

    private let server: WebSocketServer
    /// Also those before the end of their handshake.
    private var connections: [ServerConnection] = []
    private var isClosing = false

    init(_ server: WebSocketServer) { self.server = server }

    mutating func run() {
        var stopsAt: Duration?
        while true {
            connections.removeAll(where: \.isEnded)
            let (orders, greeting) = server.takeOrders(greets: connections.contains(where: \.isNew))
            for frame in orders.frames { broadcast(frame) }
            greetNewClients(with: greeting)
            // All that is ordered from now on reaches those who are counted.
            let clientCount = connections.count(where: \.isGreeted)
            server.setClientCount(clientCount)
            if let status = orders.closeStatus { close(status: status) }
            if orders.stops {
                close(status: 1001)
                stopsAt = stopsAt ?? monotonicTime() + Self.closeTimeout
            }
            if let stopsAt, clientCount == 0 || monotonicTime() >= stopsAt { return }
            wait(until: stopsAt)
        }
    }

    /// Waits until something happens, or until the time, and serves the clients to whom it happens.
    private mutating func wait(until limit: Duration?) {
        let acceptsMore = connections.count < server.maximumClients
        var polled = [
            pollfd(fd: server.waker.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: server.listener.descriptor, events: acceptsMore ? Int16(POLLIN) : 0, revents: 0),
        ]
        for connection in connections {
            let events = connection.hasBytesToSend ? POLLIN | POLLOUT : POLLIN
            polled.append(pollfd(fd: connection.descriptor, events: Int16(events), revents: 0))
        }
        let deadline = (connections.compactMap(\.deadline) + [limit].compactMap(\.self)).min()
        let timeout = deadline.map { ($0 - monotonicTime()).pollMilliseconds } ?? -1
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }
        let now = monotonicTime()
        for (connection, polled) in zip(connections, polled.dropFirst(2)) {
            if polled.revents & Int16(POLLOUT) != 0 { connection.flush() }
            if polled.revents & ~Int16(POLLOUT) != 0 { connection.receive(server.configuration.headers) }
            connection.endIfDue(at: now)
        }
        if polled[1].revents != 0 { accept() }
    }

    private mutating func accept() {
        let accepted = unsafe SocketAddress.filled { unsafe Glibc.accept(server.listener.descriptor, $0, $1) }
        guard let (number, address) = accepted else {
            // The client has gone, or there is no descriptor for it, which would be so again at once.
            if errno != EAGAIN { pauseThread(for: .milliseconds(10)) }
            return
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        let connection = ServerConnection(
            FileDescriptor(owning: number), client: address.ip.client,
            maximumQueuedBytes: server.configuration.maximumQueuedBytes)
        // One address has half of the places.
        let others = connections.count { $0.client == connection.client }
        if !isClosing, others < max(1, server.maximumClients / 2) { connections.append(connection) }
    }

    private func greetNewClients(with greeting: [[UInt8]]) {
        let frames = greeting.map { FrameWriter.frame(.text, $0, mask: nil) }
        for connection in connections where connection.isNew { connection.greet(with: frames) }
    }

    private func broadcast(_ frame: [UInt8]) {
        for connection in connections where connection.isOpen && !connection.isNew { connection.send(frame) }
    }

    /// Closes all connections. From now on there are no new clients: one that comes back at once would be closed again.
    private mutating func close(status: UInt16) {
        isClosing = true
        for connection in connections { connection.close(status: status) }
    }
}
