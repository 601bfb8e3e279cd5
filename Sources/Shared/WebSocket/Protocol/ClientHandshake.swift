internal import Bytes
public import HTTPText
internal import System

/// The request for a WebSocket (RFC 6455, section 4.1).
struct HandshakeRequest {
    /// The one extension that is offered. Without context takeover each message is compressed on its own, which costs
    /// the server no memory between messages; a server that does not agree to that is understood as well: see
    /// `Inflater`.
    static let compressionOffer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    static let maximumBytes = 64 << 10

    let bytes: [UInt8]
    /// The only good `Sec-WebSocket-Accept`.
    let expectedAccept: String
    let subprotocols: [String]

    /// - Parameter key: 16 random bytes.
    init(
        _ address: WebSocketAddress, fields: [HTTPField], subprotocols: [String], key: [UInt8]
    ) throws(SystemError) {
        let key = encodeBase64(key)
        expectedAccept = webSocketAccept(key: key)
        self.subprotocols = subprotocols
        var lines = [
            "GET \(address.target) HTTP/1.1", "Host: \(address.hostHeader)", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Extensions: \(Self.compressionOffer)",
        ]
        if !subprotocols.isEmpty { lines.append("Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))") }
        if let authorization = address.authorization, !fields.contains(where: { $0.isNamed("Authorization") }) {
            lines.append("Authorization: \(authorization)")
        }
        for field in fields {
            guard field.isValid, !field.isReserved else {
                throw SystemError(.configuration, "the header \(field.name) cannot be sent")
            }
            lines.append("\(field.name): \(field.value)")
        }
        bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        guard bytes.count <= Self.maximumBytes else {
            throw SystemError(.configuration, "the handshake's headers are longer than \(Self.maximumBytes) bytes")
        }
    }
}

extension HTTPField {
    /// True for fields that the handshake sets itself, so that they cannot be given.
    public var isReserved: Bool { Self.reserved.contains { equalsIgnoringCase(name.utf8, $0) } }

    /// Completes an error about a reserved field.
    public var expectedInstead: String {
        isNamed("Sec-WebSocket-Protocol")
            ? "the flag for subprotocols instead of the header \(name)"
            : "no header \(name), which the handshake sets itself"
    }

    private static let reserved = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
        "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol", "Content-Length", "Transfer-Encoding",
    ]
}

/// The server's response to the request.
enum HandshakeResponse: Equatable {
    /// 100 to 199 without 101: the response is still to come.
    case interim
    case accepted(Compression?, fields: HTTPFields)
    case refused(detail: String, retryAfter: Duration?)
}

extension HandshakeResponse {
    /// - Parameter now: milliseconds since the Unix epoch.
    init(_ head: HTTPHead, to request: HandshakeRequest, now: Int64) {
        guard let status = Self.status(head.startLine) else {
            self = .refused(HTTPHeadError.notHTTP)
            return
        }
        switch status {
        case 101: self = Self.upgrade(head.fields, request)
        case 100..<200: self = .interim
        default:
            let retryAfter = head.fields.first("Retry-After").flatMap { parseRetryAfter($0, now: now) }
            let remark =
                switch status {
                case 200, 404: ": this is no WebSocket endpoint"
                case 300..<400: head.fields.first("Location").map { ": the feed is at \(masked(address: $0))" } ?? ""
                default: ""
                }
            self = .refused(detail: "status \(status) instead of 101\(remark)", retryAfter: retryAfter)
        }
    }

    /// For a response that cannot be read.
    static func refused(_ error: HTTPHeadError) -> HandshakeResponse {
        let detail =
            switch error {
            case .notHTTP: "the response is not HTTP"
            case .tooLong: "the response header is longer than \(HTTPHeadReader.maximumBytes) bytes"
            case .badField: "the response header has a line that is not \"Name: value\""
            }
        return .refused(detail: detail, retryAfter: nil)
    }

    /// `HTTP/1.1 101 Switching Protocols`; what stands behind the number does not matter.
    private static func status(_ line: String) -> Int? {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == 8, parts[1].utf8.count == 3, parts[1].utf8.allSatisfy(isDigit)
        else { return nil }
        return Int(parts[1]).flatMap { $0 >= 100 ? $0 : nil }
    }

    /// A body is not looked for: a response of status 101 never has one, whatever its length or coding say (RFC 9112,
    /// section 6.3). Some servers send such fields.
    private static func upgrade(_ fields: HTTPFields, _ request: HandshakeRequest) -> HandshakeResponse {
        func refused(_ detail: String) -> HandshakeResponse {
            .refused(detail: "status 101 " + detail, retryAfter: nil)
        }
        guard fields.list("Upgrade").map({ $0.lowercased() }) == ["websocket"] else {
            return refused("without Upgrade: websocket")
        }
        guard fields.list("Connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            return refused("without Connection: Upgrade")
        }
        guard fields.list("Sec-WebSocket-Accept") == [request.expectedAccept] else {
            return refused("with a wrong Sec-WebSocket-Accept")
        }
        let subprotocols = fields.list("Sec-WebSocket-Protocol")
        guard subprotocols.isEmpty || (subprotocols.count == 1 && request.subprotocols.contains(subprotocols[0])) else {
            let shown = subprotocols.joined(separator: ", ")
            return refused("with a subprotocol that was not offered: \(shown)")
        }
        do throws(SystemError) {
            return .accepted(try Compression(fields.list("Sec-WebSocket-Extensions")), fields: fields)
        } catch {
            return refused("with " + error.reason)
        }
    }
}
