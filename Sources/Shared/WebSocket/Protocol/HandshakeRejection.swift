internal import HTTPText

/// A malformed HTTP head, or a request that is not a valid WebSocket handshake.
struct HandshakeRejection: Error, Equatable {
    let reason: String
    private let status: String
    private let fields: [HTTPField]

    init(_ reason: String, status: String = "400 Bad Request", fields: [HTTPField] = []) {
        self.reason = reason
        self.status = status
        self.fields = fields
    }

    /// The complete response, after which a server closes the connection.
    var response: [UInt8] {
        let body = Array((reason + "\n").utf8)
        let more = [
            HTTPField(name: "Content-Type", value: "text/plain"),
            HTTPField(name: "Content-Length", value: "\(body.count)"), HTTPField(name: "Connection", value: "close"),
        ]
        return responseHead(status, fields + more) + body
    }
}

func responseHead(_ status: String, _ fields: [HTTPField]) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}
