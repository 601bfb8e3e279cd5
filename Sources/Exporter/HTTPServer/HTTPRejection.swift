/// A response in one line that the server makes itself, or that says why a request is rejected.
public struct HTTPRejection: Error {
    let status: Int
    /// Fields that the status needs.
    let headers: [(name: String, value: String)]
    /// Why, in one line.
    let line: String

    init(_ status: Int, headers: [(name: String, value: String)] = [], _ line: String) {
        self.status = status
        self.headers = headers
        self.line = line
    }

    /// A 503 with `Retry-After`.
    public static func busy(_ line: String, retryAfter seconds: Int = 1) -> HTTPRejection {
        HTTPRejection(503, headers: [("Retry-After", "\(seconds)")], line)
    }

    func response(inJSON isJSON: Bool = false) -> HTTPResponse {
        isJSON
            ? .jsonError(status: status, headers: headers, line)
            : HTTPResponse(status: status, headers: headers, line: line)
    }
}
