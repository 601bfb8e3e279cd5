internal import CLibWebSockets
internal import System

/// Runs on a client's thread. It passes socket events, results of the resolver and orders from other threads to the
/// `ConnectionState`, and performs the actions that it returns.
final class ClientLoop: SocketLoop {
    private let configuration: WebSocketClientConfiguration
    private let onEvent: @Sendable (WebSocketEvent) -> Void
    private let onMessage: @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    private let waker: LoopWaker
    private let resolver: Resolver
    private var state: ConnectionState
    /// The current connection, and earlier ones that are still closing: too few for a dictionary.
    private var connections: [ClientConnection] = []
    /// A dial waits for the loop's next turn, so that libwebsockets is never entered from its own callbacks.
    private var nextDial: (number: Int, ConnectionState.Dial)?
    /// Made for the first `wss://` address, and again when a file has changed.
    private var tls: OpenSSLContext?
    private var tlsFiles: [FileStamp?] = []
    private var timerAt: Duration?
    private(set) var isFinished = false

    /// One connection, and those before it that end within a second.
    static let maximumSockets = 64

    init(
        configuration: WebSocketClientConfiguration, waker: LoopWaker,
        onResolved: @escaping @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void,
        onEvent: @escaping @Sendable (WebSocketEvent) -> Void,
        onMessage: @escaping @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        self.onMessage = onMessage
        self.waker = waker
        resolver = Resolver(onResult: onResolved)
        state = ConnectionState(configuration)
    }

    func handle(_ event: ConnectionState.Event) {
        for action in state.handle(event, at: monotonicTime(), random: randomUnit()) { perform(action) }
    }

    private func handle(_ event: ConnectionState.ConnectionEvent, of connection: ClientConnection) {
        handle(.connection(connection.number, event))
    }

    /// Work to be done outside of libwebsockets' callbacks, before each `service`.
    func turn(_ context: borrowing WebSocketContext, at now: Duration) {
        while nextDial != nil, let (number, dial) = nextDial.take() { self.dial(number, dial, context) }
        schedule(context, at: now)
    }

    /// Comes from within `service`, before it waits.
    override func timerFired() {
        timerAt = nil
        handle(.timer)
        // So that it does not wait, and the next turn sets the timer.
        waker.wake()
    }

    override func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        guard let connection = connection(socket.number) else { return }
        switch event {
        case .connected: begin(connection, socket)
        case .received: if !connection.isEnding { receive(bytes, connection) }
        case .writable: connection.flush()
        case .ended: ended(connection)
        }
    }

    /// Moves the timer earlier only: deadlines move later with every message, and one that comes too early does
    /// nothing.
    private func schedule(_ context: borrowing WebSocketContext, at now: Duration) {
        let wanted = min(state.nextDeadline ?? .seconds(Int32.max), now + WebSocketClient.maximumSleep)
        if let timerAt, timerAt <= wanted { return }
        timerAt = wanted
        context.schedule(in: wanted - now)
    }

    private func connection(_ number: Int) -> ClientConnection? { connections.first { $0.number == number } }
}

// MARK: What the state wants

extension ClientLoop {
    private func perform(_ action: ConnectionState.Action) {
        switch action {
        case .report(let event): onEvent(event)
        case .resolve(let number, let host): resolver.resolve(number, host: host)
        case .dial(let number, let dial): nextDial = (number, dial)
        case .open(let number, let compression):
            guard let connection = connection(number) else { return }
            connection.reader = FrameReader(
                from: .server, maximumMessageBytes: configuration.maximumMessageBytes, compression: compression)
            subscribe(connection)
        case .subscribe(let number):
            // A server that does not read must not be owed more and more.
            if let connection = connection(number), connection.waitingBytes == 0 { subscribe(connection) }
        case .ping(let number):
            if let connection = connection(number) { connection.send(connection.frame(.ping, [])) }
        case .close(let number, let status): connection(number)?.sendClose(status: status)
        case .disconnect(let number, afterSending: true): connection(number)?.closeAfterFlush(within: 1)
        case .disconnect(let number, afterSending: false): connection(number)?.abort()
        case .finish: isFinished = true
        }
    }

    private func subscribe(_ connection: ClientConnection) {
        for text in configuration.subscriptions {
            connection.send(connection.frame(.text, Array(text.utf8)))
        }
    }

    private var maximumWaitingBytes: Int {
        configuration.subscriptions.reduce(ClientConnection.maximumWaitingBytes) { $0 + $1.utf8.count }
    }

    private func dial(_ number: Int, _ dial: ConnectionState.Dial, _ context: borrowing WebSocketContext) {
        guard number == state.number else { return }
        let session: OpenSSLSession?
        do throws(TLSFileError) {
            session = try makeSession(for: dial.address)
        } catch {
            return handle(.connection(number, .tlsFailed(detail: error.reason)))
        }
        let request: HandshakeRequest
        do throws(SystemError) {
            request = try HandshakeRequest(
                dial, fields: configuration.headerFields(), subprotocols: configuration.subprotocols,
                key: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
        } catch {
            return handle(.connection(number, .answered(.refused(detail: error.reason, retryAfter: nil))))
        }
        let connection = ClientConnection(number: number, request: request, tls: session)
        connections.append(connection)
        // It may have begun or even ended within the call.
        if let socket = context.dial(dial.ipAddress, port: dial.address.port, number: number) {
            connection.begin(socket)
        } else {
            ended(connection)
        }
    }

    /// `nil` for a `ws://` address.
    private func makeSession(for address: WebSocketAddress) throws(TLSFileError) -> OpenSSLSession? {
        guard address.isSecure else { return nil }
        let files = configuration.tls.fileStamps
        if tls == nil || tlsFiles != files {
            tls = try OpenSSLContext(configuration.tls)
            tlsFiles = files
        }
        return tls?.makeSession(for: address)
    }
}

// MARK: What happens to the sockets

extension ClientLoop {
    private func begin(_ connection: ClientConnection, _ socket: Socket) {
        connection.begin(socket)
        // So that a dead peer that owes acknowledgements is noticed as soon as by a ping.
        socket.setUserTimeout(userTimeout)
        handle(.tcpConnected, of: connection)
        if connection.tls != nil {
            receive(Span(), connection)
        } else {
            request(connection)
        }
    }

    private func request(_ connection: ClientConnection) {
        handle(.requesting, of: connection)
        connection.send(connection.request.bytes)
    }

    private func receive(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        state.received(at: monotonicTime())
        guard connection.tls != nil else { return read(bytes, connection) }
        var event: ConnectionState.ConnectionEvent?
        do throws(SystemError) {
            let goesOn = try connection.tls?.receive(
                bytes, onEstablished: { request(connection) }, onPlaintext: { read($0, connection) })
            if goesOn == false { event = .ended }
        } catch {
            event = .tlsFailed(detail: error.reason)
        }
        connection.sendFromTLS()
        if event == nil, connection.waitingBytes > maximumWaitingBytes {
            event = .violation(
                ProtocolViolation("TLS records to answer, and none of the answers read", closeStatus: 1008))
        }
        if let event {
            // Send TLS's own reply, such as an alert, before the state ends the connection.
            connection.flush()
            handle(event, of: connection)
        }
    }

    /// Reads what the server has sent, without TLS: its response, then frames.
    private func read(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        var position = 0
        if !connection.isEnding, connection.reader == nil {
            do throws(HTTPHeadError) {
                while connection.reader == nil, let head = try connection.head.read(bytes, at: &position) {
                    let response = HandshakeResponse(head, to: connection.request, now: currentTime())
                    if response == .interim { continue }
                    handle(.answered(response), of: connection)
                    if connection.reader == nil { return }
                }
            } catch {
                handle(.answered(.refused(error)), of: connection)
            }
        }
        if position < bytes.count { readFrames(bytes.extracting(droppingFirst: position), connection) }
    }

    private func readFrames(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        let isOpen = state.isOpen
        var messages = 0
        let violation = connection.readFrames(
            bytes,
            onMessage: { kind, message in
                messages += 1
                if isOpen { onMessage(kind, message) }
            },
            onClose: { handle(.closeFrame($0), of: connection) })
        if let violation { handle(.violation(violation), of: connection) }
        if messages > 0 { state.receivedMessages(messages, at: monotonicTime()) }
    }

    private func ended(_ connection: ClientConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        connection.socketEnded()
        handle(.ended, of: connection)
    }

    private var userTimeout: Duration {
        let ping = configuration.pingInterval
        let pong = configuration.pongTimeout
        return ping > .zero && pong > .zero ? ping + pong : .seconds(30)
    }
}
