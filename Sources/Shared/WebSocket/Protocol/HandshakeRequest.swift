internal import Bytes
internal import HTTPText

/// The opening handshake of a client (RFC 6455, section 4.1).
struct HandshakeRequest {
    /// The only extension offered: every message compressed on its own, which costs the server no memory between
    /// messages. A server that keeps its context nevertheless is supported too; see `Inflater`.
    static let compressionOffer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    let bytes: [UInt8]
    let expectedAccept: String
    let subprotocols: [String]

    /// - Parameters:
    ///   - fields: validated, none of them reserved.
    ///   - key: 16 random bytes.
    init(_ address: WebSocketAddress, fields: [HTTPField], subprotocols: [String], userAgent: String, key: [UInt8]) {
        let key = encodeBase64(key)
        expectedAccept = webSocketAccept(key: key)
        self.subprotocols = subprotocols
        var lines = [
            "GET \(address.target) HTTP/1.1", "Host: \(address.hostHeader)", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Extensions: \(Self.compressionOffer)",
        ]
        if !fields.contains(where: { $0.isNamed("User-Agent") }) { lines.append("User-Agent: \(userAgent)") }
        if !subprotocols.isEmpty { lines.append("Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))") }
        if let authorization = address.authorization, !fields.contains(where: { $0.isNamed("Authorization") }) {
            lines.append("Authorization: \(authorization)")
        }
        lines += fields.map { "\($0.name): \($0.value)" }
        bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
