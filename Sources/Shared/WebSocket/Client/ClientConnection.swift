/// One connection of a client: from the dial to the end of its socket.
final class ClientConnection: PeerConnection {
    let number: Int
    let dial: ConnectionState.Dial
    let request: HandshakeRequest
    let tls: TLSSession?
    var head = HTTPHeadReader(beginning: "HTTP/1.")

    init(number: Int, dial: ConnectionState.Dial, request: HandshakeRequest, tls: consuming TLSSession?) {
        self.number = number
        self.dial = dial
        self.request = request
        self.tls = tls
    }

    override func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max))
    }

    override func send(_ bytes: [UInt8]) {
        guard tls != nil else { return write(bytes) }
        guard tls?.send(bytes) == true else { return kill() }
        sendFromTLS()
    }

    /// Sends what TLS has to say on its own account.
    func sendFromTLS() {
        if let bytes = tls?.takeOutput() { write(bytes) }
    }
}
