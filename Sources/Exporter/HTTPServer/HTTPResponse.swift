/// The content of a response.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// Bytes one after another, which other responses may share.
    case pieces([[UInt8]])
    /// Events, for GET alone.
    case stream(HTTPStream)
}

/// A response to a request.
///
/// `Content-Length`, `Date` and `Connection` are added when it is sent; HEAD gets the same header and no content.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: HTTPBody

    /// - Parameters:
    ///   - status: 200 to 599.
    ///   - headers: a field with an empty value, or with a line break in it, is left out.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// One line of plain text.
    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        self.init(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: .bytes(Array("\(line)\n".utf8)))
    }

    /// Bytes of content that are known before they are sent: none of a stream.
    var contentBytes: Int {
        pieces.reduce(0) { $0 + $1.count }
    }

    /// The content that is known before it is sent.
    var pieces: [[UInt8]] {
        switch body {
        case .bytes(let bytes): [bytes]
        case .pieces(let pieces): pieces
        case .stream: []
        }
    }
}
