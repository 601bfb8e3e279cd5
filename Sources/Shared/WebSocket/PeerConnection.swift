/// A connection of a client or a server once TCP has connected: the bytes that wait to be sent, and the frames that
/// arrive.
///
/// Belongs to the loop's thread.
class PeerConnection {
    /// `nil` before a client's dial has an outcome, and when the socket is gone.
    private(set) var socket: Socket?
    /// `nil` before the end of the handshake, while it reads, and once nothing that arrives matters.
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

    /// Memory that waits to be sent, in bytes.
    var waitingBytes: Int { waiting.byteCount }

    /// A frame of ours, as the side sends it.
    func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        FrameWriter.frame(opcode, payload, mask: nil)
    }

    /// Sends bytes, under TLS where there is any.
    func send(_ bytes: [UInt8]) { write(bytes) }

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
