internal import Bytes
internal import CLibWebSockets
internal import HTTPText

/// Returns the 101 response to a request (RFC 6455, section 4.2) with additional fields; any path is accepted.
func acceptHandshake(_ head: HTTPHead, fields: [HTTPField]) throws(HandshakeRejection) -> [UInt8] {
    guard head.startLine.hasSuffix(" HTTP/1.1"), head.fields.count("Host") == 1 else {
        throw HandshakeRejection("not an HTTP/1.1 GET request")
    }
    let upgrade = HTTPField(name: "Upgrade", value: "websocket")
    func has(_ token: String, in name: String) -> Bool { head.fields.list(name).contains { $0.lowercased() == token } }
    guard has("websocket", in: "Upgrade"), has("upgrade", in: "Connection"),
        head.fields.list("Sec-WebSocket-Version") == ["13"]
    else {
        let version = HTTPField(name: "Sec-WebSocket-Version", value: "13")
        throw HandshakeRejection(
            "expected a WebSocket upgrade, version 13", status: "426 Upgrade Required", fields: [upgrade, version])
    }
    guard head.fields.count("Sec-WebSocket-Key") == 1, let key = head.fields.first("Sec-WebSocket-Key"),
        decodeBase64(Array(key.utf8)[...])?.count == 16
    else { throw HandshakeRejection("Sec-WebSocket-Key is not 16 bytes in base64") }
    let accept = HTTPField(name: "Sec-WebSocket-Accept", value: webSocketAccept(key: key))
    let connection = HTTPField(name: "Connection", value: "Upgrade")
    return responseHead("101 Switching Protocols", [upgrade, connection, accept] + fields)
}

/// Returns the `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455, section 4.2.2), using `lws_SHA1`.
func webSocketAccept(key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe lws_SHA1(text, text.count, &digest)
    return encodeBase64(digest)
}
