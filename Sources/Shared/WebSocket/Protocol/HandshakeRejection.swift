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

/// The status line and the header fields of a response.
func responseHead(_ status: String, _ fields: [HTTPField]) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status)"] + fields.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}
