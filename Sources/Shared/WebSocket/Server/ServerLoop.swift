internal import Bytes
internal import CLibWebSockets
internal import Glibc
internal import Synchronization
internal import System

/// Runs on a server's thread: hands messages out to the clients.
///
/// Memory is bounded in total: a message and a greeting are there once for all clients, and where too much waits, the
/// slowest clients are dropped.
final class ServerLoop: SocketLoop {
    /// Of a greeting, for clients that come after the one that it was made for.
    private static let greetingLifetime: Duration = .seconds(1)

    private let configuration: WebSocketServerConfiguration
    private let orders: ServerOrders
    /// By the keys of their sockets; before their handshake as well.
    private var connections: [UInt: ServerConnection] = [:]
    /// By `Socket.client`.
    private var counts: [[UInt8]: Int] = [:]
    /// Those that have clients.
    private var groups: [Int: ServerGroup] = [:]
    /// Of the logs of all groups.
    private var queuedBytes = 0
    /// The time at which a greeting is forgotten.
    private var greetingsEnd: Duration?
    private var isClosing = false

    init(_ configuration: WebSocketServerConfiguration, _ orders: ServerOrders) {
        self.configuration = configuration
        self.orders = orders
    }

    var isEmpty: Bool { clientCount == 0 }

    private var clientCount: Int { orders.clientCount.load(ordering: .relaxed) }

    func broadcast(_ message: ServerOrders.Message) {
        guard let group = groups[message.group] else { return }
        queuedBytes += group.log.append(message)
        for client in group.clients.values where client.isOpen { client.socket?.wantToWrite() }
        queuedBytes -= group.trim()
        limitQueues()
    }

    /// From now on there are no new clients: one that comes back at once would be told goodbye again.
    func close(status: UInt16) {
        isClosing = true
        for connection in connections.values { connection.close(status: status) }
    }

    /// - Returns: when it is to be called again.
    func forgetGreetings(at now: Duration) -> Duration? {
        guard let end = greetingsEnd, end <= now else { return greetingsEnd }
        greetingsEnd = nil
        for group in groups.values {
            guard let end = group.greeting.map({ $0.madeAt + Self.greetingLifetime }) else { continue }
            if end <= now { group.greeting = nil } else { greetingsEnd = min(greetingsEnd ?? end, end) }
        }
        return greetingsEnd
    }

    override func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        switch event {
        case .connected: connected(socket)
        case .received:
            guard let connection = connections[socket.key] else { return }
            connection.receive(bytes, fields: orders.pending.withLock(\.headers), route: configuration.route) {
                opened(connection, $0)
            }
        case .writable: if let connection = connections[socket.key] { written(connection) }
        case .ended: if let connection = connections.removeValue(forKey: socket.key) { ended(connection) }
        }
    }

    private func connected(_ socket: Socket) {
        let client = socket.client
        // One address has half of the places at most.
        let limit = max(1, configuration.maximumClients / 2)
        guard !isClosing, counts[client, default: 0] < limit else { return socket.kill() }
        counts[client, default: 0] += 1
        connections[socket.key] = ServerConnection(socket, client: client)
    }

    private func opened(_ connection: ServerConnection, _ number: Int) -> ServerGroup {
        let group = groups[number] ?? ServerGroup(number: number)
        groups[number] = group
        // Before the greeting is asked: what is broadcast after that is for this client too.
        group.clients[connection.key] = connection
        orders.clientCount.add(1, ordering: .relaxed)
        connection.join(group, greeting(of: group))
        configuration.onClientCount(clientCount)
        return group
    }

    private func written(_ connection: ServerConnection) {
        connection.flush()
        guard let group = connection.group, connection.position == group.log.end else { return }
        queuedBytes -= group.trim()
    }

    private func ended(_ connection: ServerConnection) {
        let rest = (counts[connection.client] ?? 1) - 1
        counts[connection.client] = rest == 0 ? nil : rest
        connection.socketEnded()
        leave(connection)
    }

    private func leave(_ connection: ServerConnection) {
        guard let group = connection.group, group.clients.removeValue(forKey: connection.key) != nil else { return }
        queuedBytes -= group.trim()
        if group.clients.isEmpty { groups[group.number] = nil }
        orders.clientCount.subtract(1, ordering: .relaxed)
        configuration.onClientCount(clientCount)
    }
}

// MARK: Memory

extension ServerLoop {
    private func greeting(of group: ServerGroup) -> Greeting {
        let now = monotonicTime()
        let count = orders.pending.withLock(\.messageCount)
        if let known = group.greeting, known.next == count, now - known.madeAt < Self.greetingLifetime { return known }
        // No message is added while it is made.
        let (messages, next) = orders.pending.withLock { (configuration.greeting(group.number), $0.messageCount) }
        let made = Greeting(messages, next: next, madeAt: now)
        group.greeting = made
        greetingsEnd = greetingsEnd ?? now + Self.greetingLifetime
        limitGreetings(beside: made)
        return made
    }

    /// Drops the slowest clients of the group for which most waits, while too much does. A message that is longer than
    /// the bound is sent all the same to clients that wait for nothing else.
    private func limitQueues() {
        while queuedBytes > configuration.maximumQueuedBytes {
            let late = groups.values.filter { $0.log.end - $0.log.start > 1 }
            guard let group = late.max(by: { $0.log.byteCount < $1.log.byteCount }) else { return }
            queuedBytes -= group.trim()
            let start = group.log.start
            drop(group.clients.values.filter { $0.position == start && start < group.log.end - 1 })
        }
    }

    /// Drops the clients that still take the oldest greetings, while there are too many of them.
    private func limitGreetings(beside newest: Greeting) {
        var takers: [ObjectIdentifier: (greeting: Greeting, clients: [ServerConnection])] = [:]
        for client in connections.values {
            guard let greeting = client.greeting else { continue }
            takers[ObjectIdentifier(greeting), default: (greeting, [])].clients.append(client)
        }
        var bytes = takers.values.reduce(newest.byteCount) { $0 + $1.greeting.byteCount }
        let bound = max(configuration.maximumQueuedBytes, 2 * newest.byteCount)
        for (greeting, clients) in takers.values.sorted(by: { $0.greeting.madeAt < $1.greeting.madeAt })
        where bytes > bound {
            drop(clients)
            bytes -= greeting.byteCount
        }
    }

    private func drop(_ clients: [ServerConnection]) {
        for client in clients {
            client.abort()
            if let group = client.group { configuration.onDrop(group.number) }
            leave(client)
        }
    }
}

extension WebSocketContext {
    /// Listens.
    /// - Throws: a `SystemError` that names the address and the reason.
    static func server(
        _ loop: ServerLoop, _ configuration: WebSocketServerConfiguration, waker: LoopWaker
    ) throws(SystemError) -> WebSocketContext {
        let (host, port) = (configuration.host, configuration.port)
        guard (0...65535).contains(port) else {
            throw SystemError(.address, "cannot listen on port \(port): it is not a number from 0 to 65535")
        }
        let ipAddress = try Self.ipAddress(of: host)
        // libwebsockets does not say why it cannot, and since 4.3 tries again for a quarter of an hour first. So the kernel is
        // asked before.
        let address = ListenAddress.tcp(host: host, port: port)
        _ = try ListeningSocket.open(address)
        let made = unsafe WebSocketContext(
            loop, interface: ipAddress, maximumSockets: configuration.maximumClients + 1, waker: waker
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
        let addresses = try lookUp(host)
        guard let first = addresses.first else { throw SystemError(.address, "no address for \(host)") }
        return addresses.first { isNumericAddress($0, family: AF_INET) } ?? first
    }
}
