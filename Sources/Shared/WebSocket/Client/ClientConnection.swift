/// One connection of a client: from the dial to the end of its socket.
final class ClientConnection: PeerConnection {
    /// Bytes that may wait besides the subscriptions before the server is at fault. Pings and OpenSSL's records need
    /// far less, unless a server makes it write more and more and reads none of it.
    static let maximumWaitingBytes = 1 << 20

    let number: Int
    let request: HandshakeRequest
    let tls: OpenSSLSession?
    var head = HTTPHeadReader(beginning: "HTTP/1.")

    init(number: Int, request: HandshakeRequest, tls: consuming OpenSSLSession?) {
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

    /// Sends the records that TLS makes on its own account, such as alerts and key updates.
    func sendFromTLS() {
        if let bytes = tls?.takeOutput() { write(bytes) }
    }
}
