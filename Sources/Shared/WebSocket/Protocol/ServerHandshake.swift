internal import Bytes
internal import CLibWebSockets
internal import HTTPText

/// A rejected request for a WebSocket; the connection ends after the response.
struct HandshakeRejection: Error {
    /// The whole response.
    let response: [UInt8]

    init(_ status: String, _ reason: String, _ fields: [HTTPField] = []) {
        let body = Array((reason + "\n").utf8)
        let more = [
            HTTPField(name: "Content-Type", value: "text/plain"),
            HTTPField(name: "Content-Length", value: "\(body.count)"), HTTPField(name: "Connection", value: "close"),
        ]
        response = responseHead(status, fields + more) + body
    }

    /// For a request that cannot be read.
    init(_ error: HTTPHeadError) {
        switch error {
        case .notHTTP: self.init("400 Bad Request", "this is no GET request of HTTP/1.1")
        case .badField: self.init("400 Bad Request", "the header has a line that is no \"Name: value\"")
        case .tooLong:
            let reason = "the header is longer than \(HTTPHeadReader.maximumBytes) bytes"
            self.init("431 Request Header Fields Too Large", reason)
        }
    }
}

/// The response that accepts a request, whatever its path (RFC 6455, section 4.2).
/// - Parameter fields: additional fields of the response.
func acceptHandshake(_ head: HTTPHead, fields: [HTTPField]) throws(HandshakeRejection) -> [UInt8] {
    guard head.startLine.hasSuffix(" HTTP/1.1"), head.fields.count("Host") == 1 else {
        throw HandshakeRejection(.notHTTP)
    }
    let upgrade = HTTPField(name: "Upgrade", value: "websocket")
    func has(_ token: String, in name: String) -> Bool { head.fields.list(name).contains { $0.lowercased() == token } }
    guard has("websocket", in: "Upgrade"), has("upgrade", in: "Connection"),
        head.fields.list("Sec-WebSocket-Version") == ["13"]
    else {
        let version = HTTPField(name: "Sec-WebSocket-Version", value: "13")
        throw HandshakeRejection("426 Upgrade Required", "this is a WebSocket feed of version 13", [upgrade, version])
    }
    guard head.fields.count("Sec-WebSocket-Key") == 1, let key = head.fields.first("Sec-WebSocket-Key"),
        decodeBase64(Array(key.utf8)[...])?.count == 16
    else { throw HandshakeRejection("400 Bad Request", "Sec-WebSocket-Key is not 16 bytes in base64") }
    let accept = HTTPField(name: "Sec-WebSocket-Accept", value: webSocketAccept(key: key))
    let connection = HTTPField(name: "Connection", value: "Upgrade")
    return responseHead("101 Switching Protocols", [upgrade, connection, accept] + fields)
}

private func responseHead(_ status: String, _ fields: [HTTPField]) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455, section 4.2.2). Corresponds to `lws_SHA1`.
func webSocketAccept(key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe lws_SHA1(text, text.count, &digest)
    return encodeBase64(digest)
}
