internal import Glibc

/// One connection of a client, from the dial to the end of its socket. Confined to the loop's thread.
final class ClientConnection {
    /// Limit on the bytes that TLS sends of its own accord, including the handshake: otherwise the replies to a
    /// server that keeps requesting new keys, and never reads, would pile up.
    static let maximumTLSBytes = 256 << 10

    /// Limit on the bytes of replies that the server does not take, in addition to the subscriptions.
    static let maximumReplyBytes = 1 << 20

    let id: Int
    let request: HandshakeRequest
    let tls: OpenSSLSession?
    var head = HTTPHeadReader(beginning: "HTTP/1.")
    /// A response that refuses the handshake, while its body is read.
    var rejection: (response: HandshakeResponse, body: RejectionBody)?
    /// `nil` during the handshake, and once further input is ignored.
    var reader: FrameReader?
    /// Whether further input is ignored.
    private(set) var isEnding = false
    /// Whether a close frame is queued, which is the last thing sent.
    private var hasSentClose = false
    /// `nil` before the dial has an outcome, and after the socket is gone.
    private var socket: Socket?
    private(set) var waiting = WaitingBytes()
    private var tlsBytes = 0
    /// Payload of the latest ping; earlier ones get no pong (RFC 6455, section 5.5.3), so a flood fills no queue.
    private var pong: [UInt8]?

    init(id: Int, request: HandshakeRequest, tls: consuming OpenSSLSession?) {
        self.id = id
        self.request = request
        self.tls = tls
    }

    func begin(_ socket: Socket) { self.socket = self.socket ?? socket }

    func socketEnded() {
        stopReading()
        socket = nil
    }

    // MARK: Sending

    /// Queues bytes, encrypted if the connection uses TLS.
    func send(_ bytes: [UInt8]) {
        guard tls != nil else { return write(bytes) }
        guard tls?.send(bytes) == true, let records = tls?.takeOutput() else { return abort() }
        write(records)
    }

    func send(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) {
        send(FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max)))
    }

    /// Queues records that TLS sends of its own accord, such as alerts and key updates; `false` if they are too many.
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

    /// Sends a pong as soon as the queue is empty.
    func answer(_ ping: [UInt8]) {
        pong = ping
        socket?.wantToWrite()
    }

    private func sendPong() {
        if let payload = pong.take() { send(.pong, payload) }
    }

    /// Sends as much as the kernel accepts, and asks to be called again for the rest.
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

    // MARK: Ending

    /// Sends a close frame after the queued bytes; the connection ends within a second, whatever the server does.
    /// Closing it with unread input would cause a reset, which can overtake the last bytes sent.
    func close(status: UInt16?) {
        socket?.setDeadline(seconds: 1)
        sendPong()
        send(.close, FrameWriter.closePayload(status: status))
        stopReading()
        hasSentClose = true
    }

    func abort() {
        stopReading()
        socket?.kill()
    }

    private func stopReading() {
        isEnding = true
        reader = nil
    }
}
