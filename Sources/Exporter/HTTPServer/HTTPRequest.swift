public import HTTPText

/// A request as a route sees it.
public struct HTTPRequest: Sendable {
    public let method: String
    /// Percent-decoded and otherwise as sent: `//` and `/..` stay what they are.
    public let path: String
    /// As sent, without the `?`.
    public let query: String
    private let fields: HTTPFields

    public init(method: String = "GET", path: String, query: String = "", fields: HTTPFields = HTTPFields()) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
    }

    /// See `HTTPFields.joined`.
    public func header(_ name: String) -> String? { fields.joined(name) }
}
