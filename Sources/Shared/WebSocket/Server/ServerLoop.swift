internal import CLibWebSockets
internal import Glibc
internal import Synchronization
internal import System

/// What runs on a server's thread: hands messages out to the clients.
final class ServerLoop: SocketLoop {
    private let maximumQueuedBytes: Int
    private let orders: ServerOrders
    private let shared: ServerShared
    private let place: @Sendable (String) -> WebSocketServerPlace
    private let greeting: @Sendable (Int) -> [[UInt8]]
    private let events: WebSocketServerEvents
    /// By the keys of their sockets; before their handshake as well.
    private var connections: [UInt: ServerConnection] = [:]
    /// Keys of those whose handshake is over, by their groups.
    private var clients: [Int: Set<UInt>] = [:]
    private var clientCount = 0
    private var isClosing = false

    init(
        maximumQueuedBytes: Int, orders: ServerOrders, shared: ServerShared,
        place: @escaping @Sendable (String) -> WebSocketServerPlace,
        greeting: @escaping @Sendable (Int) -> [[UInt8]], events: WebSocketServerEvents
    ) {
        self.maximumQueuedBytes = maximumQueuedBytes
        self.orders = orders
        self.shared = shared
        self.place = place
        self.greeting = greeting
        self.events = events
    }

    var isEmpty: Bool { clientCount == 0 }

    func broadcast(_ message: ServerOrders.Message) {
        for key in clients[message.group] ?? [] {
            guard let client = connections[key], client.isOpen, client.firstMessage <= message.number else { continue }
            let bound = maximumQueuedBytes + client.greetingBytes
            // A message that is longer than the bound is sent all the same to a client that waits for nothing.
            if client.waitingBytes > 0, client.waitingBytes + message.frame.count > bound {
                client.kill()
                events.onDrop(message.group)
            } else {
                client.send(message.frame)
            }
        }
    }

    /// From now on there are no new clients: one that comes back at once would be told goodbye again.
    func close(status: UInt16) {
        isClosing = true
        for connection in connections.values { connection.close(status: status) }
    }

    override func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        switch event {
        case .connected:
            if isClosing { socket.kill() } else { connections[socket.key] = ServerConnection(socket) }
        case .received:
            guard let connection = connections[socket.key] else { return }
            connection.receive(bytes, fields: shared.headers, place: place) { event in
                switch event {
                case .opened(let group): opened(connection, socket.key, group)
                case .message(let message): events.onMessage(message)
                }
            }
        case .writable: connections[socket.key]?.flush()
        case .ended: ended(socket.key)
        }
    }

    private func opened(_ connection: ServerConnection, _ key: UInt, _ group: Int) {
        // Before the greeting is asked: what is broadcast after that is for this client too.
        clients[group, default: []].insert(key)
        clientCount += 1
        shared.clientCount.store(clientCount, ordering: .relaxed)
        let (messages, next) = orders.admit { greeting(group) }
        connection.greet(messages, firstMessage: next)
        events.onConnect(clientCount)
    }

    private func ended(_ key: UInt) {
        guard let group = connections.removeValue(forKey: key)?.group, clients[group]?.remove(key) != nil
        else { return }
        if clients[group]?.isEmpty == true { clients[group] = nil }
        clientCount -= 1
        shared.clientCount.store(clientCount, ordering: .relaxed)
        events.onDisconnect(clientCount)
    }
}

/// What any thread may read or set of a server.
final class ServerShared: Sendable {
    let clientCount = Atomic<Int>(0)
    private let fields = Mutex<[HTTPField]>([])

    var headers: [HTTPField] { fields.withLock(\.self) }

    /// - Throws: a `SystemError` that names the one that cannot be sent.
    func setHeaders(_ headers: [HTTPField]) throws(SystemError) {
        if let bad = headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        fields.withLock { $0 = headers }
    }
}

extension WebSocketContext {
    /// Listens.
    /// - Parameters:
    ///   - host: an IP address, the name of one, or nothing for all of the machine's.
    ///   - port: 0 = a free one.
    /// - Throws: a `SystemError` that names the address and the reason.
    static func server(
        _ loop: ServerLoop, listen host: String, port: Int, maximumClients: Int, waker: LoopWaker
    ) throws(SystemError) -> WebSocketContext {
        guard (0...65535).contains(port) else {
            throw SystemError(.address, "cannot listen on port \(port): it is not a number from 0 to 65535")
        }
        let ipAddress = try Self.ipAddress(of: host)
        let made = unsafe WebSocketContext(
            loop, interface: ipAddress, maximumSockets: maximumClients + 1, waker: waker
        ) { info in
            unsafe info.port = Int32(port)
            unsafe info.listen_accept_role = Memory.characters(of: Memory.role)
            unsafe info.listen_accept_protocol = Memory.characters(of: Memory.protocolName)
            let isIPv4 = isNumericAddress(ipAddress, family: AF_INET)
            unsafe info.options =
                UInt64(LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND)
                | UInt64(LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG)
                | (isIPv4 ? UInt64(LWS_SERVER_OPTION_DISABLE_IPV6) : 0)
        }
        guard let made else {
            // libwebsockets does not say why, so the kernel is asked once more.
            let address = ListenAddress.tcp(host: host, port: port)
            _ = try ListeningSocket.open(address)
            throw SystemError(.address, "cannot listen on \(address): libwebsockets does not say why")
        }
        return made
    }

    /// The one that it listens on.
    var listenPort: Int {
        unsafe "default".withCString { name in
            unsafe Int(lws_get_vhost_listen_port(lws_get_vhost_by_name(context, name)))
        }
    }

    private static func ipAddress(of host: String) throws(SystemError) -> String {
        if host.isEmpty || isNumericAddress(host) { return host }
        switch lookUp(host) {
        case .resolved(let addresses) where !addresses.isEmpty:
            return addresses.first { isNumericAddress($0, family: AF_INET) } ?? addresses[0]
        case .notResolved(let detail): throw SystemError(.address, detail)
        default: throw SystemError(.address, "no address for \(host)")
        }
    }
}
