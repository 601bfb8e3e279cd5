internal import System

/// Runs on a client's thread. It passes socket events, results of the resolver and orders from other threads to the
/// `ConnectionState`, and performs the actions that it returns.
final class ClientLoop {
    private let client: WebSocketClient
    private let resolver: Resolver
    private var state: ConnectionState
    /// The current connection, and earlier ones that are still closing: too few for a dictionary.
    private var connections: [ClientConnection] = []
    /// A dial waits for the loop's next turn, so that libwebsockets is never entered from its own callbacks.
    private var nextDial: (number: Int, ipAddress: String)?
    private var timerAt: Duration?
    private(set) var isFinished = false

    init(_ client: WebSocketClient) {
        self.client = client
        // A lookup may outlive the client.
        resolver = Resolver { [weak client] in client?.give(.connection($0, $1)) }
        state = ConnectionState(client.configuration)
    }

    private var configuration: WebSocketClientConfiguration { client.configuration }

    func handle(_ event: ConnectionState.Event) {
        for action in state.handle(event, at: monotonicTime(), random: randomUnit()) { perform(action) }
    }

    private func handle(_ event: ConnectionState.ConnectionEvent, of connection: ClientConnection) {
        handle(.connection(connection.number, event))
    }

    /// Work to be done outside of libwebsockets' callbacks, before each `service`.
    func prepare(_ context: borrowing WebSocketContext) {
        while nextDial != nil, let (number, ipAddress) = nextDial.take() { dial(number, ipAddress, context) }
        // The timer is moved earlier only: deadlines move later with every message, and one that comes too early does
        // nothing.
        guard let deadline = state.nextDeadline, timerAt.map({ deadline < $0 }) ?? true else { return }
        timerAt = deadline
        context.schedule(in: deadline - monotonicTime())
    }

    /// Comes from within `service`, before it waits.
    func timerFired() {
        timerAt = nil
        handle(.timer)
        // So that it does not wait, and the next turn sets the timer.
        client.waker.wake()
    }

    /// - Parameter bytes: what has arrived; there during the call, and empty when the event is not `received`.
    func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {
        guard let connection = connection(socket.number) else { return }
        switch event {
        case .connected: begin(connection, socket)
        case .received: if !connection.isEnding { receive(bytes, connection) }
        case .writable: connection.flush()
        case .ended: ended(connection)
        }
    }

    private func connection(_ number: Int) -> ClientConnection? { connections.first { $0.number == number } }
}

// MARK: What the state wants

extension ClientLoop {
    private func perform(_ action: ConnectionState.Action) {
        switch action {
        case .report(let event): client.onEvent(event)
        case .resolve(let number, let host): resolver.resolve(number, host: host)
        case .dial(let number, let ipAddress): nextDial = (number, ipAddress)
        case .open(let number, let compression):
            guard let connection = connection(number) else { return }
            connection.reader = FrameReader(
                from: .server, maximumMessageBytes: configuration.maximumMessageBytes, compression: compression)
            subscribe(connection)
        case .subscribe(let number):
            // A server that does not read must not be owed more and more.
            if let connection = connection(number), !connection.hasWaitingBytes { subscribe(connection) }
        case .ping(let number): connection(number)?.send(.ping, [])
        case .close(let number, let status): connection(number)?.sendClose(status: status)
        case .disconnect(let number, afterSending: true): connection(number)?.closeAfterFlush()
        case .disconnect(let number, afterSending: false): connection(number)?.abort()
        case .finish: isFinished = true
        }
    }

    private func subscribe(_ connection: ClientConnection) {
        for text in configuration.subscriptions { connection.send(.text, Array(text.utf8)) }
    }

    private func dial(_ number: Int, _ ipAddress: String, _ context: borrowing WebSocketContext) {
        guard number == state.number else { return }
        let address = configuration.address
        let session: OpenSSLSession?
        do throws(TLSFileError) {
            session = address.isSecure ? try OpenSSLSession(address, configuration.tls) : nil
        } catch {
            return handle(.connection(number, .tlsFailed(detail: error.reason)))
        }
        let request: HandshakeRequest
        do throws(SystemError) {
            request = try HandshakeRequest(
                address, fields: configuration.headerFields(), subprotocols: configuration.subprotocols,
                key: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
        } catch {
            return handle(.connection(number, .answered(.refused(detail: error.reason, retryAfter: nil))))
        }
        let connection = ClientConnection(number: number, request: request, tls: session)
        connections.append(connection)
        // The connection may have begun or even ended within the call.
        if let socket = context.dial(ipAddress, port: address.port, number: number) {
            connection.begin(socket)
        } else {
            ended(connection)
        }
    }
}

// MARK: What happens to the sockets

extension ClientLoop {
    private func begin(_ connection: ClientConnection, _ socket: Socket) {
        connection.begin(socket)
        // So that a dead peer that owes acknowledgements is noticed as soon as by a ping.
        let limits = [configuration.pingInterval, configuration.pongTimeout]
        socket.setUserTimeout(limits.contains(.zero) ? .seconds(30) : limits[0] + limits[1])
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
        var event = decrypt(bytes, connection)
        if !connection.sendFromTLS(), event == nil {
            event = .violation(ProtocolViolation("TLS records to answer over and over", closeStatus: 1008))
        }
        if let event {
            // Send TLS's own reply, such as an alert, before the state ends the connection.
            connection.flush()
            handle(event, of: connection)
        }
    }

    /// - Returns: how the TLS session has ended, `nil` while it goes on.
    private func decrypt(_ bytes: Span<UInt8>, _ connection: ClientConnection) -> ConnectionState.ConnectionEvent? {
        connection.tls?.receive(bytes)
        do throws(SystemError) {
            while !connection.isEnding, let step = try connection.tls?.next() {
                switch step {
                case .established: request(connection)
                case .plaintext(let bytes): read(bytes.span, connection)
                case .ended: return .ended
                }
            }
        } catch {
            return .tlsFailed(detail: error.reason)
        }
        return nil
    }

    /// Reads what the server has sent, without TLS: its response, then frames.
    private func read(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        var position = 0
        do throws(HTTPHeadError) {
            while connection.reader == nil, !connection.isEnding {
                guard let head = try connection.head.read(bytes, at: &position) else { return }
                let response = HandshakeResponse(head, to: connection.request, now: currentTime())
                if response != .interim { handle(.answered(response), of: connection) }
            }
        } catch {
            handle(.answered(.refused(error)), of: connection)
        }
        do throws(ProtocolViolation) {
            while let event = try connection.reader?.next(bytes, at: &position) { handle(event, of: connection) }
        } catch {
            handle(.violation(error), of: connection)
        }
    }

    private func handle(_ event: FrameReader.Event, of connection: ClientConnection) {
        switch event {
        case .message(let kind, let message):
            // After `stop` the connection only waits for its end.
            guard state.isOpen else { return }
            state.receivedMessage(at: monotonicTime())
            client.onMessage(kind, message.span)
        case .ping(let payload): connection.answer(payload)
        case .close(let frame): handle(.closeFrame(frame), of: connection)
        }
    }

    private func ended(_ connection: ClientConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        connection.socketEnded()
        handle(.ended, of: connection)
    }
}
