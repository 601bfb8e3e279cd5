internal import System

/// One connection of a client: from the dial to the end of its socket.
///
/// Belongs to the loop's thread.
final class ClientConnection {
    let number: Int
    let dial: ConnectionState.Dial
    let request: HandshakeRequest
    let tls: TLSSession?
    /// Nil as long as libwebsockets dials and has not said how it goes.
    private var output: SocketOutput?
    var head = HTTPHeadReader(beginning: "HTTP/1.")
    /// Nil until the handshake is complete, while it is reading, and once further input is ignored.
    var reader: FrameReader?
    /// Further input is ignored.
    private(set) var isEnding = false
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?

    init(number: Int, dial: ConnectionState.Dial, request: HandshakeRequest, tls: consuming TLSSession?) {
        self.number = number
        self.dial = dial
        self.request = request
        self.tls = tls
    }

    func begin(_ socket: Socket) {
        if output == nil { output = SocketOutput(socket) }
    }

    func sendRequest() {
        send(request.bytes)
    }

    func send(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) {
        if opcode == .pong {
            pong = payload
            output?.socket.wantToWrite()
            return
        }
        // After a close frame nothing may be sent (section 5.5.1).
        if opcode == .close { sendPong() }
        send(FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max)))
    }

    private func sendPong() {
        if let payload = pong.take() {
            send(FrameWriter.frame(.pong, payload, mask: .random(in: .min ... .max)))
        }
    }

    private func send(_ bytes: [UInt8]) {
        if tls != nil {
            guard tls?.send(bytes) == true else { return kill() }
            sendFromTLS()
        } else {
            output?.append(bytes)
        }
    }

    /// Sends what TLS has to say on its own account.
    func sendFromTLS() {
        if let bytes = tls?.takeOutput() { output?.append(bytes) }
    }

    /// Sends what waits.
    func flush() {
        if output?.isEmpty == true { sendPong() }
        output?.flush()
    }

    /// Ends after what waits is sent; within a second also when the peer does not read it, or does not end as well.
    func end() {
        giveUp()
        output?.end(within: 1)
    }

    /// Ends in the loop's next turn.
    func kill() {
        giveUp()
        output?.socket.kill()
    }

    private func giveUp() {
        isEnding = true
        reader = nil
        pong = nil
    }

    /// The socket is gone.
    func forgetSocket() {
        giveUp()
        output = nil
    }

    /// Limits how long sent data may stay unacknowledged, so that a dead peer is noticed as soon as by a ping.
    func limitFlight(to timeout: Duration) {
        output?.socket.setUserTimeout(timeout)
    }
}
