internal import Bytes

/// A response in one line that the server makes itself, or that says why a request is rejected.
public struct HTTPRefusal: Error {
    public let status: Int
    /// Fields that the status needs.
    public let headers: [(name: String, value: String)]
    /// Why, in one line.
    public let line: String

    public init(_ status: Int, headers: [(name: String, value: String)] = [], _ line: String) {
        self.status = status
        self.headers = headers
        self.line = line
    }

    static let unauthorized = HTTPRefusal(401, headers: [("WWW-Authenticate", "Basic")], "authentication required")

    /// A 503 with `Retry-After`.
    public static func busy(_ line: String, retryAfter seconds: Int = 1) -> HTTPRefusal {
        HTTPRefusal(503, headers: [("Retry-After", "\(seconds)")], line)
    }

    func response(in form: Route.ErrorForm) -> HTTPResponse {
        switch form {
        case .text: HTTPResponse(status: status, headers: headers, line: line)
        case .json: .jsonError(status: status, headers: headers, line)
        }
    }
}

extension HTTPResponse {
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
