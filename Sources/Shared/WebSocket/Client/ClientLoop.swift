internal import CLibWebSockets
internal import System

/// Passes events, lookups and orders to the `ConnectionState` and performs its actions, on the client's thread.
final class ClientLoop {
    let client: WebSocketClient
    private let lookups = WorkQueue(name: "lookup", limit: 4)
    private var state: ConnectionState
    /// The current connection and earlier ones that are still closing: too few for a dictionary.
    private var connections: [ClientConnection] = []
    /// A dial for the loop's next turn, because libwebsockets must not be entered from its own callbacks.
    private var nextDial: (connectionID: Int, ipAddress: String)?
    private(set) var isFinished = false

    init(_ client: WebSocketClient) {
        self.client = client
        state = ConnectionState(client.configuration)
    }

    private var configuration: WebSocketClientConfiguration { client.configuration }

    func handle(_ event: ConnectionState.Event, at now: Duration = monotonicTime()) {
        for action in state.handle(event, at: now, random: .random(in: 0..<1)) { perform(action) }
    }

    private func handle(_ event: ConnectionState.ConnectionEvent, of connection: ClientConnection) {
        handle(.connection(connection.id, event))
    }

    /// Waits for socket events or a deadline and handles them.
    func turn(_ context: borrowing WebSocketContext) {
        while let next = nextDial.take() { dial(next.connectionID, next.ipAddress, context) }
        let now = monotonicTime()
        context.service(within: state.nextDeadline.map { $0 - now } ?? .seconds(3600))
        // Not a deadline that passed during the wait: if the process was suspended, its input may still be unread.
        if let deadline = state.nextDeadline, deadline <= now { handle(.timer, at: now) }
    }

    /// Handles a callback of libwebsockets; on these raw sockets it speaks no HTTP, TLS or WebSocket.
    func handle(_ reason: lws_callback_reasons, of socket: Socket, bytes: Span<UInt8>) {
        guard let connection = connection(socket.connectionID) else { return }
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED: begin(connection, socket)
        case LWS_CALLBACK_RAW_RX: if !connection.isEnding { receive(bytes, connection) }
        case LWS_CALLBACK_RAW_WRITEABLE: connection.flush()
        // A socket may cause several of these, even if it never connected; only the first has an effect.
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR, LWS_CALLBACK_RAW_CLOSE, LWS_CALLBACK_WSI_DESTROY: ended(connection)
        default: break
        }
    }

    private func connection(_ id: Int) -> ClientConnection? { connections.first { $0.id == id } }
}

// MARK: Actions of the state

extension ClientLoop {
    private func perform(_ action: ConnectionState.Action) {
        switch action {
        case .report(let event): client.onEvent(event)
        case .resolve(let id, let host): resolve(id, host: host)
        case .dial(let id, let ipAddress): nextDial = (id, ipAddress)
        case .open(let id, let compression):
            guard let connection = connection(id) else { return }
            connection.reader = FrameReader(
                from: .server, maximumMessageBytes: configuration.maximumMessageBytes, compression: compression)
            subscribe(connection)
            reply(client.configuration.greeting(), connection)
        case .subscribe(let id):
            // Send nothing more to a server that does not read.
            if let connection = connection(id), connection.waiting.isEmpty { subscribe(connection) }
        case .ping(let id): connection(id)?.send(.ping, [])
        case .close(let id, let status): connection(id)?.close(status: status)
        case .abort(let id): connection(id)?.abort()
        case .finish: isFinished = true
        }
    }

    private func subscribe(_ connection: ClientConnection) {
        for text in configuration.subscriptions { send(Array(text.utf8), connection) }
    }

    private func send(_ text: [UInt8], _ connection: ClientConnection) {
        connection.send(.text, text)
        configuration.onSend(text)
    }

    /// Queues replies; ends the connection if the server does not take them.
    private func reply(_ texts: [[UInt8]], _ connection: ClientConnection) {
        if texts.isEmpty { return }
        for text in texts { send(text, connection) }
        state.sent(at: monotonicTime())
        let subscriptions = configuration.subscriptions.reduce(0) { $0 + $1.utf8.count }
        guard connection.waiting.byteCount > ClientConnection.maximumReplyBytes + subscriptions else { return }
        let limit = "\(ClientConnection.maximumReplyBytes >> 20) MiB"
        let detail = "more than \(limit) of replies that the server does not take"
        handle(.violation(ProtocolViolation(detail, closeStatus: 1008)), of: connection)
    }

    /// Looks up the host on another thread, which may outlive the client: a lookup can take half a minute.
    private func resolve(_ id: Int, host: String) {
        let isAccepted = lookups.submit { [weak client = client] in client?.give(.connection(id, lookUp(host))) }
        if !isAccepted { client.give(.connection(id, .notResolved(detail: "earlier name lookups hang"))) }
    }

    private func dial(_ id: Int, _ ipAddress: String, _ context: borrowing WebSocketContext) {
        guard id == state.connectionID else { return }
        let address = configuration.address
        let connection: ClientConnection
        do {
            let session = address.isSecure ? try OpenSSLSession(address, configuration.tls) : nil
            let request = HandshakeRequest(
                address, fields: try configuration.headerFields(), subprotocols: configuration.subprotocols,
                userAgent: configuration.userAgent, key: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
            connection = ClientConnection(id: id, request: request, tls: session)
        } catch let error as TLSFileError {
            return handle(.connection(id, .tlsFailed(detail: error.reason)))
        } catch {
            return handle(.connection(id, .answered(.rejected(detail: "\(error)", retryAfter: nil))))
        }
        connections.append(connection)
        // The connection may have begun or even ended within this call.
        if let socket = context.dial(ipAddress, port: address.port, connectionID: id) {
            connection.begin(socket)
        } else {
            ended(connection)
        }
    }
}

// MARK: Events of the sockets

extension ClientLoop {
    private func begin(_ connection: ClientConnection, _ socket: Socket) {
        connection.begin(socket)
        handle(.tcpConnected, of: connection)
        guard connection.tls == nil else { return receive(Span(), connection) }
        request(connection)
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
            event = .violation(ProtocolViolation("endless TLS records that require replies", closeStatus: 1008))
        }
        if let event {
            // Send TLS's own reply, such as an alert, before the state ends the connection.
            connection.flush()
            handle(event, of: connection)
        }
    }

    /// - Returns: how the TLS session ended; `nil` while it is open.
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

    /// Reads plaintext from the server: its handshake response, then frames.
    private func read(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        var position = 0
        do throws(HandshakeRejection) {
            while connection.reader == nil, !connection.isEnding {
                if connection.rejection != nil { return readRejection(bytes.extracting(position...), connection) }
                guard let head = try connection.head.read(bytes, at: &position) else { return }
                let response = HandshakeResponse(
                    head, to: connection.request, flagPrefix: configuration.flagPrefix, now: currentTime())
                switch response {
                case .interim: break
                case .accepted:
                    handle(.answered(response, certificateExpiry: connection.tls?.certificateExpiry()), of: connection)
                case .rejected:
                    if let body = RejectionBody(head.fields) {
                        connection.rejection = (response, body)
                    } else {
                        handle(.answered(response), of: connection)
                    }
                }
            }
        } catch {
            let detail = "the response cannot be read: \(error.reason)"
            handle(.answered(.rejected(detail: detail, retryAfter: nil)), of: connection)
        }
        if !connection.isEnding { readFrames(bytes, at: position, connection) }
    }

    private func readRejection(_ bytes: Span<UInt8>, _ connection: ClientConnection) {
        connection.rejection?.body.append(bytes)
        guard let (response, body) = connection.rejection else { return }
        let whole = response.adding(body)
        handle(body.isComplete ? .answered(whole) : .refusing(whole), of: connection)
    }

    private func readFrames(_ bytes: Span<UInt8>, at start: Int, _ connection: ClientConnection) {
        var position = start
        var messageCount = 0
        var violation: ProtocolViolation?
        // Taken out once for all frames: each access to a class's property is checked for exclusivity.
        var reader = connection.reader.take()
        do throws(ProtocolViolation) {
            while !connection.isEnding, let event = try reader?.next(bytes, at: &position) {
                switch event {
                case .message(let kind, let message):
                    messageCount += 1
                    take(client.onMessage(kind, message.span), connection)
                case .messageInPlace(let kind, let range):
                    messageCount += 1
                    take(client.onMessage(kind, bytes.extracting(range)), connection)
                case .ping(let payload): connection.answer(payload)
                case .pong: state.receivedPong()
                case .close(let frame): handle(.closeFrame(frame), of: connection)
                }
                // Orders must not wait for thousands of messages that arrived at once, each with a jq program to run.
                takeOrders()
            }
        } catch {
            violation = error
        }
        if !connection.isEnding { connection.reader = reader }
        state.received(messages: messageCount, at: monotonicTime())
        if let violation { handle(.violation(violation), of: connection) }
    }

    private func take(_ outcome: MessageOutcome, _ connection: ClientConnection) {
        if outcome.isUseful { state.receivedUsefulMessage() }
        reply(outcome.replies, connection)
    }

    func takeOrders() {
        for event in client.takeOrders() { handle(event) }
    }

    private func ended(_ connection: ClientConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        connection.socketEnded()
        handle(.ended, of: connection)
    }
}

/// Looks up the IP addresses of a host, in the order to try them. May block for half a minute.
private func lookUp(_ host: String) -> ConnectionState.ConnectionEvent {
    do throws(SystemError) { return .resolved(try SocketAddress.lookUp(host).map(\.ip.description)) } catch {
        return .notResolved(detail: error.reason)
    }
}
