public import HTTPText

/// A request as a route sees it.
public struct HTTPRequest: Sendable {
    public let method: String
    /// Percent-decoded, otherwise as sent: `//` and `/..` are not resolved.
    public let path: String
    /// As sent, without the `?`.
    public let query: String
    var fields: [HTTPField]

    public init(method: String = "GET", path: String, query: String = "", fields: [HTTPField] = []) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
    }

    /// The values of all fields with this name, joined with `, `; `nil` if there is none.
    public func header(_ name: String) -> String? { fields.joined(name) }
}
