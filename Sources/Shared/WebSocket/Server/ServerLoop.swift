internal import System

/// Runs on a server's thread: hands messages out to the clients.
///
/// A message is in memory once, however many clients wait for it. A client is dropped when too much waits for it, or
/// when it takes nothing for half a minute.
final class ServerLoop: SocketLoop {
    /// Time for which clients that come share a greeting.
    private static let greetingLifetime: Duration = .seconds(1)

    private let configuration: WebSocketServerConfiguration
    private let orders: ServerOrders
    /// The connections by the keys of their sockets, before their handshake as well.
    private var connections: [UInt: ServerConnection] = [:]
    /// The number of connections by `Socket.client`.
    private var counts: [[UInt8]: Int] = [:]
    /// Frames for a new client: the greeting, and what was broadcast after it.
    private var greeting: [[UInt8]] = []
    private var greetingEndsAt = Duration.zero
    private var isClosing = false

    init(_ configuration: WebSocketServerConfiguration, _ orders: ServerOrders) {
        self.configuration = configuration
        self.orders = orders
    }

    var isEmpty: Bool { clientCount == 0 }

    private var clientCount: Int { orders.clientCount.load(ordering: .relaxed) }

    func broadcast(_ frame: [UInt8]) {
        for connection in connections.values where connection.isOpen { connection.send(frame) }
        if monotonicTime() < greetingEndsAt {
            greeting.append(frame)
        } else {
            greeting = []
        }
    }

    /// Closes all connections. From now on there are no new clients: one that comes back at once would be closed again.
    func close(status: UInt16) {
        isClosing = true
        for connection in connections.values { connection.close(status: status) }
    }

    override func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        switch event {
        case .connected: connected(socket)
        case .received:
            guard let connection = connections[socket.key] else { return }
            connection.receive(bytes, fields: configuration.headers) { opened(connection) }
        case .writable: connections[socket.key]?.flush()
        case .ended: if let connection = connections.removeValue(forKey: socket.key) { ended(connection) }
        }
    }

    private func connected(_ socket: Socket) {
        let client = socket.client
        let limit = max(1, configuration.maximumClients / 2)
        guard !isClosing, counts[client, default: 0] < limit else { return socket.kill() }
        counts[client, default: 0] += 1
        connections[socket.key] = ServerConnection(
            socket, client: client, maximumQueuedBytes: configuration.maximumQueuedBytes)
    }

    private func opened(_ connection: ServerConnection) {
        // Older than the greeting that follows.
        for frame in orders.takeFrames() { broadcast(frame) }
        let now = monotonicTime()
        if let makeGreeting = configuration.greeting {
            if now >= greetingEndsAt {
                greeting = makeGreeting().map { FrameWriter.frame(.text, $0, mask: nil) }
                greetingEndsAt = now + Self.greetingLifetime
            }
            connection.greet(with: greeting)
        }
        orders.clientCount.add(1, ordering: .relaxed)
        configuration.onClientCount(clientCount)
    }

    private func ended(_ connection: ServerConnection) {
        let rest = (counts[connection.client] ?? 1) - 1
        counts[connection.client] = rest == 0 ? nil : rest
        connection.socketEnded()
        guard connection.wasOpen else { return }
        orders.clientCount.subtract(1, ordering: .relaxed)
        configuration.onClientCount(clientCount)
    }
}
