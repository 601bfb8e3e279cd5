/// What the server answers itself, before the route closure is asked.
public struct HTTPRefusal: Sendable {
    /// 400, 401, 411, 414, 429, 431 or 503.
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

    static let unauthorized = HTTPRefusal(
        401, headers: [("WWW-Authenticate", "Basic")], "a user and a password are needed")

    static func busy(_ line: String) -> HTTPRefusal {
        HTTPRefusal(503, headers: [("Retry-After", "1")], line)
    }
}
