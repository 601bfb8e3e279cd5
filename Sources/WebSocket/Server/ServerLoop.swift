internal import CLibWebSockets
internal import Glibc
internal import Synchronization
internal import System

/// What runs on a server's thread: hands messages out to the clients.
final class ServerLoop: SocketLoop {
    static let maximumClients = 1024

    private let maximumQueuedBytes: Int
    private let fields: [HTTPField]
    private let greeting: @Sendable () -> [[UInt8]]
    private let events: WebSocketServerEvents
    /// By the keys of their sockets; before their handshake as well.
    private var connections: [UInt: ServerConnection] = [:]
    /// Keys of those whose handshake is over.
    private var clients: Set<UInt> = []
    private let clientCount: ClientCount

    init(
        maximumQueuedBytes: Int, clientCount: ClientCount, fields: [HTTPField],
        greeting: @escaping @Sendable () -> [[UInt8]], events: WebSocketServerEvents
    ) {
        self.maximumQueuedBytes = maximumQueuedBytes
        self.clientCount = clientCount
        self.fields = fields
        self.greeting = greeting
        self.events = events
    }

    var isEmpty: Bool { clients.isEmpty }

    func broadcast(_ frame: [UInt8]) {
        for key in clients {
            guard let client = connections[key], client.isOpen else { continue }
            // A message that is longer than the bound is sent all the same to a client that waits for nothing.
            if client.waitingBytes > 0, client.waitingBytes + frame.count > maximumQueuedBytes {
                client.kill()
            } else {
                client.send(frame)
            }
        }
    }

    func close(status: UInt16) {
        for key in clients { connections[key]?.close(status: status) }
    }

    override func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        switch event {
        case .connected: connections[socket.key] = ServerConnection(socket)
        case .received:
            guard let connection = connections[socket.key] else { return }
            connection.receive(bytes, fields: fields) { event in
                switch event {
                case .opened: opened(connection, socket.key)
                case .message(let message): events.onMessage(message)
                }
            }
        case .writable: connections[socket.key]?.flush()
        case .ended: ended(socket.key)
        }
    }

    private func opened(_ connection: ServerConnection, _ key: UInt) {
        // Before the greeting is asked: what is broadcast after that is for this client too.
        clients.insert(key)
        clientCount.value.store(clients.count, ordering: .relaxed)
        for message in greeting() { connection.send(FrameWriter.frame(.text, message, mask: nil)) }
        events.onConnect(clients.count)
    }

    private func ended(_ key: UInt) {
        connections[key] = nil
        guard clients.remove(key) != nil else { return }
        clientCount.value.store(clients.count, ordering: .relaxed)
        events.onDisconnect(clients.count)
    }
}

/// How many clients there are, for any thread.
final class ClientCount: Sendable {
    let value = Atomic<Int>(0)
}

extension WebSocketContext {
    /// Listens.
    /// - Parameters:
    ///   - host: an IP address, the name of one, or nothing for all of the machine's.
    ///   - port: 0 = a free one.
    /// - Throws: a `SystemError` that names the address and the reason.
    static func server(
        _ loop: ServerLoop, listen host: String, port: Int, waker: LoopWaker
    ) throws(SystemError) -> WebSocketContext {
        guard (0...65535).contains(port) else {
            throw SystemError(.address, "cannot listen on port \(port): it is not a number from 0 to 65535")
        }
        let ipAddress = try Self.ipAddress(of: host)
        let made = unsafe WebSocketContext(
            loop, interface: ipAddress, maximumSockets: ServerLoop.maximumClients + 1, waker: waker
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
