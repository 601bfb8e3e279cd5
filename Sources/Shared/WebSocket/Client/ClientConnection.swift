internal import Glibc

/// One connection of a client, from the dial to the end of its socket. Belongs to the loop's thread.
final class ClientConnection {
    /// Bytes of TLS records on its own account, the handshake's included. A server that asks for new keys over and
    /// over, and reads none of the answers, would have them pile up.
    static let maximumTLSBytes = 256 << 10

    let number: Int
    let request: HandshakeRequest
    let tls: OpenSSLSession?
    var head = HTTPHeadReader(beginning: "HTTP/1.")
    /// `nil` before the end of the handshake, and once nothing that arrives matters.
    var reader: FrameReader?
    /// Further input is ignored.
    private(set) var isEnding = false
    /// Nothing is sent after what waits.
    private var hasSentClose = false
    /// `nil` before the dial has an outcome, and when the socket is gone.
    private var socket: Socket?
    private(set) var waiting = WaitingBytes()
    private var tlsBytes = 0
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?

    init(number: Int, request: HandshakeRequest, tls: consuming OpenSSLSession?) {
        self.number = number
        self.request = request
        self.tls = tls
    }

    /// The socket has connected, or begun to.
    func begin(_ socket: Socket) { self.socket = self.socket ?? socket }

    func socketEnded() {
        stopReading()
        socket = nil
    }

    // MARK: Sending

    /// Sends bytes, under TLS where there is any.
    func send(_ bytes: [UInt8]) {
        guard tls != nil else { return write(bytes) }
        guard tls?.send(bytes) == true, let records = tls?.takeOutput() else { return abort() }
        write(records)
    }

    func send(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) {
        send(FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max)))
    }

    /// Sends the records that TLS makes on its own account, such as alerts and key updates; false when too many.
    func sendFromTLS() -> Bool {
        let records = tls?.takeOutput() ?? []
        write(records)
        tlsBytes += records.count
        return tlsBytes <= Self.maximumTLSBytes
    }

    private func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        waiting.append(bytes)
        socket?.wantToWrite()
    }

    /// Answers a ping as soon as nothing else waits.
    func answer(_ ping: [UInt8]) {
        pong = ping
        socket?.wantToWrite()
    }

    private func sendPong() {
        if let payload = pong.take() { send(.pong, payload) }
    }

    /// Sends as much as the kernel takes. When that is not all, the socket becomes writable again.
    func flush() {
        guard let socket else { return }
        if waiting.isEmpty { sendPong() }
        guard waiting.send(to: socket.descriptor) else { return socket.kill() }
        if !waiting.isEmpty || pong != nil {
            socket.wantToWrite()
        } else if hasSentClose {
            shutdown(socket.descriptor, Int32(SHUT_WR))
        }
    }

    // MARK: The end

    /// Sends a close frame after what waits, and ends within a second whatever the server does. If we ended at once,
    /// unread bytes of the server would turn the end into a reset, which can overtake what was sent last.
    func close(status: UInt16?) {
        socket?.setDeadline(seconds: 1)
        sendPong()
        send(.close, FrameWriter.closePayload(status: status))
        stopReading()
        hasSentClose = true
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
