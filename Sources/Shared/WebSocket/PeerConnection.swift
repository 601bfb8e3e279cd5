/// A connection of a client or a server once TCP has connected: the bytes that wait to be sent, and the frames that arrive.
///
/// Belongs to the loop's thread.
class PeerConnection {
    /// Nil before a client's dial has an outcome, and when the socket is gone.
    private(set) var socket: Socket?
    /// Nil before the end of the handshake, while it reads, and once nothing that arrives matters.
    var reader: FrameReader?
    /// Further input is ignored.
    private(set) var isEnding = false
    private var waiting = WaitingBytes()
    private var isLast = false
    private var hasSentClose = false
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?

    /// The socket has connected.
    func begin(_ socket: Socket) {
        if self.socket == nil { self.socket = socket }
    }

    /// The socket is gone.
    func socketEnded() {
        stopReading()
        socket = nil
    }

    // MARK: Sending

    /// A frame of ours, as the side sends it.
    func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        FrameWriter.frame(opcode, payload, mask: nil)
    }

    /// Sends bytes, under TLS where there is any.
    func send(_ bytes: [UInt8]) { write(bytes) }

    /// Called when nothing waits any more, at the end of a frame: may send what comes next.
    func sendNext() {}

    /// Sends bytes as they are.
    func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        waiting.append(bytes)
        socket?.wantToWrite()
    }

    /// A close frame; nothing may be sent after it (RFC 6455, section 5.5.1).
    func sendClose(status: UInt16?) {
        if hasSentClose { return }
        sendPong()
        send(frame(.close, FrameWriter.closePayload(status: status)))
        hasSentClose = true
    }

    private func sendPong() {
        if let payload = pong.take() { send(frame(.pong, payload)) }
    }

    /// Sends as much as the kernel takes. When that is not all, the socket becomes writable again.
    func flush() {
        guard let socket else { return }
        while true {
            if waiting.isEmpty { sendPong() }
            if waiting.isEmpty { sendNext() }
            guard let piece = waiting.first else { break }
            guard let sent = socket.send(piece.span) else { return socket.kill() }
            waiting.removeFirst(sent)
            guard sent == piece.count else { return socket.wantToWrite() }
        }
        if isLast { socket.endSending() }
    }

    // MARK: Receiving

    /// Reads frames and answers pings.
    /// - Returns: how the peer broke the protocol.
    func readFrames(
        _ bytes: Span<UInt8>, onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void, onClose: (CloseFrame) -> Void
    ) -> ProtocolViolation? {
        // Taken out, because what it reads can make us give the connection up.
        guard var reader = reader.take() else { return nil }
        var violation: ProtocolViolation?
        do throws(ProtocolViolation) {
            try reader.read(
                bytes, onMessage: onMessage,
                onControl: { control in
                    switch control {
                    case .ping(let payload): answer(payload)
                    case .pong: break
                    case .close(let frame): onClose(frame)
                    }
                })
        } catch {
            violation = error
        }
        if !isEnding { self.reader = consume reader }
        return violation
    }

    private func answer(_ ping: [UInt8]) {
        if isEnding || hasSentClose { return }
        pong = ping
        socket?.wantToWrite()
    }

    // MARK: The end

    /// Ends after what waits is sent, and within `seconds` whatever the peer does. It is for the peer to end the
    /// connection: if we did at once, unread bytes of it would turn the end into a reset, which can overtake what was
    /// sent last.
    func closeAfterFlush(within seconds: Int32) {
        stopReading()
        isLast = true
        socket?.setDeadline(seconds: seconds)
        socket?.wantToWrite()
    }

    /// Ends in the loop's next turn.
    func abort() {
        stopReading()
        socket?.kill()
    }

    private func stopReading() {
        isEnding = true
        reader = nil
    }
}

/// One connection of a client: from the dial to the end of its socket.
final class ClientConnection: PeerConnection {
    let number: Int
    let request: HandshakeRequest
    let tls: TLSSession?
    var head = HTTPHeadReader(beginning: "HTTP/1.")

    init(number: Int, request: HandshakeRequest, tls: consuming TLSSession?) {
        self.number = number
        self.request = request
        self.tls = tls
    }

    override func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max))
    }

    override func send(_ bytes: [UInt8]) {
        guard tls != nil else { return write(bytes) }
        guard tls?.send(bytes) == true else { return abort() }
        sendFromTLS()
    }

    /// Sends what TLS has to say on its own account.
    func sendFromTLS() {
        if let bytes = tls?.takeOutput() { write(bytes) }
    }
}

/// Bytes that wait to be sent, in their order.
struct WaitingBytes {
    /// Smaller pieces are put together; larger ones are shared with who gave them.
    static let pieceBytes = 16 << 10

    private var pieces: [[UInt8]] = []
    /// Sent bytes of the first piece.
    private var sent = 0

    var isEmpty: Bool { pieces.isEmpty }

    /// The unsent rest of the first piece.
    var first: ArraySlice<UInt8>? { pieces.first?[sent...] }

    mutating func append(_ bytes: [UInt8]) {
        if let last = pieces.last, last.count + bytes.count <= Self.pieceBytes {
            pieces[pieces.count - 1] += bytes
        } else {
            pieces.append(bytes)
        }
    }

    /// - Parameter count: at most that of `first`.
    mutating func removeFirst(_ count: Int) {
        sent += count
        guard sent == pieces[0].count else { return }
        pieces.removeFirst()
        sent = 0
    }
}
