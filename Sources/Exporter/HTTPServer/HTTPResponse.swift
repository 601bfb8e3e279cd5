internal import Bytes

/// The content of a response.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// Bytes one after another, which other responses may share.
    case pieces([[UInt8]])
    /// Events without an end, for GET alone.
    case stream(HTTPStream)

    /// The content that is known before it is sent.
    var knownPieces: [[UInt8]] {
        switch self {
        case .bytes(let bytes): [bytes]
        case .pieces(let pieces): pieces
        case .stream(let stream): [stream.greeting]
        }
    }

    var knownBytes: Int { knownPieces.reduce(0) { $0 + $1.count } }
}

/// A response, to which `Content-Length`, `Date` and `Connection` are added; HEAD gets the same header and no content.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: HTTPBody

    /// - Parameter headers: a field with an empty value, or with a line break in it, is left out.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// One line of plain text.
    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        let type = (name: "Content-Type", value: "text/plain; charset=utf-8")
        self.init(status: status, headers: [type] + headers, body: .bytes(Array("\(line)\n".utf8)))
    }

    /// The response of a path that serves JSON: `{"error": "…"}`.
    public static func jsonError(
        status: Int, headers: [(name: String, value: String)] = [], _ line: String
    ) -> HTTPResponse {
        var text = Array("{\"error\": ".utf8)
        text.appendJSONString(onOneLine(line).utf8Span.span)
        text += "}\n".utf8
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: .bytes(text))
    }
}
