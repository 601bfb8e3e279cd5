internal import Bytes
internal import HTTPText

/// One client of a server.
final class ServerConnection: PeerConnection {
    /// Longer messages of a client are left out.
    static let maximumMessageBytes = 4 << 10
    /// Limit of a request's head.
    static let maximumHeadBytes = 16 << 10
    /// Seconds from the connection to the request, and from our close frame to the client's.
    private static let responseTimeout: Int32 = 10
    /// Seconds within which a client has to take some of what waits for it.
    private static let sendTimeout: Int32 = 30

    /// Limits what one client may have of the server, see `Socket.client`.
    let client: [UInt8]
    private var maximumQueuedBytes: Int
    private var head = HTTPHeadReader(maximumBytes: ServerConnection.maximumHeadBytes)
    /// The handshake was accepted.
    private(set) var wasOpen = false
    private var isClosing = false

    init(_ socket: Socket, client: [UInt8], maximumQueuedBytes: Int) {
        self.client = client
        self.maximumQueuedBytes = maximumQueuedBytes
        super.init()
        begin(socket)
        socket.setDeadline(seconds: Self.responseTimeout)
    }

    /// Between the handshake and the close frame that we send.
    var isOpen: Bool { wasOpen && !isClosing && !isEnding }

    // MARK: Sending

    /// Sends the first messages, however many bytes they have: others may wait besides.
    func greet(with frames: [[UInt8]]) {
        for frame in frames { super.send(frame) }
        maximumQueuedBytes += waitingBytes
        if !frames.isEmpty { socket?.setDeadline(seconds: Self.sendTimeout) }
    }

    override func send(_ bytes: [UInt8]) {
        if waitingBytes > 0, waitingBytes + bytes.count > maximumQueuedBytes { return abort() }
        if isOpen, waitingBytes == 0 { socket?.setDeadline(seconds: Self.sendTimeout) }
        super.send(bytes)
    }

    override func flush() {
        let before = waitingBytes
        super.flush()
        guard isOpen, waitingBytes < before else { return }
        socket?.setDeadline(seconds: waitingBytes == 0 ? nil : Self.sendTimeout)
    }

    /// Sends a close frame after what waits; ends at once before the end of the handshake.
    func close(status: UInt16?) {
        guard isOpen else {
            if !wasOpen, !isEnding { abort() }
            return
        }
        isClosing = true
        sendClose(status: status)
        socket?.setDeadline(seconds: Self.responseTimeout)
    }

    // MARK: Receiving

    /// Reads what has arrived.
    /// - Parameters:
    ///   - fields: additional header fields of a response that accepts.
    ///   - onOpen: called when the handshake is over, just before `isOpen` becomes true.
    func receive(_ bytes: Span<UInt8>, fields: [HTTPField], onOpen: () -> Void) {
        if isEnding { return }
        var position = 0
        if !wasOpen {
            do throws(HandshakeRefusal) {
                guard let head = try readHead(bytes, at: &position) else { return }
                write(try acceptHandshake(head, fields: fields))
                socket?.setDeadline(seconds: nil)
                reader = FrameReader(from: .client, maximumMessageBytes: Self.maximumMessageBytes)
                onOpen()
                wasOpen = true
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

    /// Ignores the messages of a client as long as it keeps to the protocol.
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
