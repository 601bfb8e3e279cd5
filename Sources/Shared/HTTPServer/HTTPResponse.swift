/// The content of a response.
public enum HTTPBody: Sendable {
    /// One line of text, usually the reason for a rejection; see `Route.rejectsInJSON`.
    case line(String)
    case bytes([UInt8])
    /// Consecutive pieces, which may be shared with other responses.
    case pieces([[UInt8]])
    /// Endless events, for GET only.
    case stream(HTTPStream)

    var stream: HTTPStream? { if case .stream(let stream) = self { stream } else { nil } }

    var knownPieces: [[UInt8]] {
        switch self {
        case .line(let line): [Array("\(line)\n".utf8)]
        case .bytes(let bytes): [bytes]
        case .pieces(let pieces): pieces
        case .stream(let stream): [stream.greeting]
        }
    }

    var knownBytes: Int { knownPieces.reduce(0) { $0 + $1.count } }
}

/// A response; `Content-Length`, `Date` and `Connection` are added. HEAD gets the same header without content.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: HTTPBody

    /// - Parameter headers: a field with an empty value or a line break is left out.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        self.init(status: status, headers: headers, body: .line(line))
    }

    /// A 503 with `Retry-After`.
    public static func busy(_ line: String, retryAfter seconds: Int = 1) -> HTTPResponse {
        HTTPResponse(status: 503, headers: [("Retry-After", "\(seconds)")], line: line)
    }
    /// The response to a request that is not served, as an error.
    struct Rejection: Error {
        let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }

        init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
            response = HTTPResponse(status: status, headers: headers, line: line)
        }
    }
}
