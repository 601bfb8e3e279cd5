internal import Bytes
internal import CLibWebSockets

/// What a server answers to a request (RFC 6455, section 4.2).
enum ServerHandshake: Equatable {
    case accepted([UInt8])
    /// The connection ends after the answer.
    case refused([UInt8])
}

extension ServerHandshake {
    /// - Parameter fields: more fields of an answer that accepts.
    init(_ head: HTTPHead, fields: [HTTPField]) {
        let request = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard request.count == 3, request[2].hasPrefix("HTTP/"), head.fields.count("Host") == 1 else {
            self = .refuse("400 Bad Request", "this is no request of HTTP/1.1")
            return
        }
        guard request[2] == "HTTP/1.1" else {
            self = .refuse("505 HTTP Version Not Supported", "HTTP/1.1 is spoken here")
            return
        }
        guard request[0] == "GET" else {
            let allowed = HTTPField(name: "Allow", value: "GET")
            self = .refuse("405 Method Not Allowed", "only GET leads to the feed", [allowed])
            return
        }
        let upgrade = HTTPField(name: "Upgrade", value: "websocket")
        guard Self.has("websocket", head.fields.list("Upgrade")), Self.has("upgrade", head.fields.list("Connection"))
        else {
            self = .refuse("426 Upgrade Required", "this is a WebSocket feed", [upgrade])
            return
        }
        guard head.fields.list("Sec-WebSocket-Version") == ["13"] else {
            let version = HTTPField(name: "Sec-WebSocket-Version", value: "13")
            self = .refuse("426 Upgrade Required", "version 13 of WebSocket is spoken here", [upgrade, version])
            return
        }
        guard head.fields.count("Sec-WebSocket-Key") == 1, let key = head.fields.first("Sec-WebSocket-Key"),
            decodeBase64(Array(key.utf8)[...])?.count == 16
        else {
            self = .refuse("400 Bad Request", "Sec-WebSocket-Key is not 16 bytes in base64")
            return
        }
        let accept = HTTPField(name: "Sec-WebSocket-Accept", value: webSocketAccept(key: key))
        let connection = HTTPField(name: "Connection", value: "Upgrade")
        self = .accepted(Self.answer("101 Switching Protocols", [upgrade, connection, accept] + fields))
    }

    /// For a path at which there is nothing.
    static func notFound(_ reason: String) -> ServerHandshake { refuse("404 Not Found", reason) }

    /// For a request that cannot be read.
    init(_ error: HTTPHeadError) {
        switch error {
        case .notHTTP: self = .refuse("400 Bad Request", "this is no request of HTTP/1.1")
        case .badField: self = .refuse("400 Bad Request", "the header has a line that is no \"Name: value\"")
        case .tooLong(let bytes):
            let reason = "the header is longer than \(bytes) bytes"
            self = .refuse("431 Request Header Fields Too Large", reason)
        }
    }

    private static func has(_ token: String, _ list: [String]) -> Bool {
        list.contains { $0.lowercased() == token }
    }

    private static func refuse(_ status: String, _ reason: String, _ fields: [HTTPField] = []) -> ServerHandshake {
        let body = Array((reason + "\n").utf8)
        let head = answer(
            status,
            fields + [
                HTTPField(name: "Content-Type", value: "text/plain"),
                HTTPField(name: "Content-Length", value: "\(body.count)"),
                HTTPField(name: "Connection", value: "close"),
            ])
        return .refused(head + body)
    }

    private static func answer(_ status: String, _ fields: [HTTPField]) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

extension HTTPHead {
    /// A request's, without its query.
    var path: String {
        let target = startLine.split(separator: " ", omittingEmptySubsequences: false).dropFirst().first ?? ""
        return String(target.prefix { $0 != "?" })
    }
}

/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455, section 4.2.2). Corresponds to `lws_SHA1`.
func webSocketAccept(key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe lws_SHA1(text, text.count, &digest)
    return encodeBase64(digest)
}
