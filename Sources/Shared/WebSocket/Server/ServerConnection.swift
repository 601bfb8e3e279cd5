internal import Bytes
internal import HTTPText

/// One client of a server.
final class ServerConnection: PeerConnection {
    /// Of what a client sends; longer messages are left out.
    static let maximumMessageBytes = 4 << 10
    /// Of a request.
    static let maximumHeadBytes = 16 << 10
    /// Seconds from the connection to the request, and from our close frame to the client's.
    private static let responseTimeout: Int32 = 10
    /// Seconds for a client to take its greeting.
    private static let greetingTimeout: Int32 = 30

    /// Of its socket.
    let key: UInt
    /// Limits what one client may have of the server.
    let client: [UInt8]
    private var head = HTTPHeadReader(maximumBytes: ServerConnection.maximumHeadBytes)
    /// Nil before the end of the handshake.
    private(set) var group: ServerGroup?
    private(set) var greeting: Greeting?
    private var greeted = 0
    /// The number of the first message that is for it.
    private var firstMessage = 0
    /// The place in the group's log of the first message that is not sent whole.
    private(set) var position = 0
    /// Behind those that are being sent.
    private var nextPosition = 0
    /// Position and status of the close frame.
    private var close: (position: Int, status: UInt16?)?

    init(_ socket: Socket, client: [UInt8]) {
        key = socket.key
        self.client = client
        super.init()
        begin(socket)
        socket.setDeadline(seconds: Self.responseTimeout)
    }

    /// Between the handshake and the close frame that we send.
    var isOpen: Bool { group != nil && close == nil && !isEnding }

    // MARK: Sending

    /// From now on it gets the group's messages, after the greeting.
    func join(_ group: ServerGroup, _ greeting: Greeting) {
        self.greeting = greeting
        firstMessage = greeting.next
        position = group.log.end
        nextPosition = position
        if !greeting.frames.isEmpty { socket?.setDeadline(seconds: Self.greetingTimeout) }
        socket?.wantToWrite()
    }

    override func sendNext() {
        position = nextPosition
        if let greeting {
            if greeted < greeting.frames.count {
                greeted += 1
                return send(greeting.frames[greeted - 1])
            }
            self.greeting = nil
            if close == nil { socket?.setDeadline(seconds: nil) }
        }
        guard let group else { return }
        let end = close?.position ?? group.log.end
        var bytes = 0
        while nextPosition < end, bytes < WaitingBytes.pieceBytes {
            let message = group.log[nextPosition]
            nextPosition += 1
            if message.number < firstMessage { continue }
            send(message.frame)
            bytes += message.frame.count
        }
        if bytes > 0 { return }
        position = nextPosition
        if let close { sendClose(status: close.status) }
    }

    /// After what waits; at once before the end of the handshake.
    func close(status: UInt16?) {
        guard isOpen, let group else {
            if group == nil, !isEnding { abort() }
            return
        }
        close = (group.log.end, status)
        socket?.setDeadline(seconds: Self.responseTimeout)
        socket?.wantToWrite()
    }

    // MARK: Receiving

    /// Reads what has arrived.
    /// - Parameters:
    ///   - fields: more fields of a response that accepts.
    ///   - onOpen: called when the handshake is over, with the group's number; joins the group.
    func receive(
        _ bytes: Span<UInt8>, fields: [HTTPField], route: (String) -> WebSocketRoute, onOpen: (Int) -> ServerGroup
    ) {
        if isEnding { return }
        var position = 0
        if group == nil {
            do throws(HandshakeRefusal) {
                guard let head = try readHead(bytes, at: &position) else { return }
                let (path, response) = try acceptHandshake(head, fields: fields)
                switch route(path) {
                case .group(let number):
                    write(response)
                    socket?.setDeadline(seconds: nil)
                    reader = FrameReader(from: .client, maximumMessageBytes: Self.maximumMessageBytes)
                    group = onOpen(number)
                case .notFound(let reason): throw HandshakeRefusal("404 Not Found", reason)
                }
            } catch {
                write(error.response)
                closeAfterFlush(within: Self.responseTimeout)
            }
        }
        let rest = bytes.extracting(droppingFirst: position)
        if !rest.isEmpty { read(rest) }
    }

    private func readHead(_ bytes: Span<UInt8>, at position: inout Int) throws(HandshakeRefusal) -> HTTPHead? {
        do throws(HTTPHeadError) { return try head.read(bytes, at: &position) } catch { throw HandshakeRefusal(error) }
    }

    /// Ignores what clients say, as long as it keeps to the protocol.
    private func read(_ bytes: Span<UInt8>) {
        var violation: ProtocolViolation?
        let broken = readFrames(
            bytes,
            onMessage: { kind, message in
                guard violation == nil, kind == .text else { return }
                if String(validating: message.indices.map { message[$0] }, as: UTF8.self) == nil {
                    violation = ProtocolViolation("text that is not UTF-8", closeStatus: 1007)
                }
            },
            onClose: { frame in
                if violation == nil { finish(status: frame.status) }
            })
        if let violation = violation ?? broken { finish(status: violation.closeStatus) }
    }

    private func finish(status: UInt16?) {
        close(status: status)
        closeAfterFlush(within: Self.responseTimeout)
    }
}
