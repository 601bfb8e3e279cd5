/// One request to a source.
public struct SourceQuery: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// A document that a jq program reads.
        case document
        case cities([Int])
        case stations(city: Int)
        case hours(city: Int, sensor: Int)
        case page(offset: Int)
    }

    /// Path and query as the source documents them. May hold the key.
    public var path: String
    /// Header lines. May hold the key.
    public var headers: [String]
    /// The number of calls it counts for.
    public var cost: Int
    /// Name of what it asks for, for a log.
    public var subject: String
    var kind: Kind

    public init(path: String, headers: [String] = [], cost: Int = 1, subject: String, kind: Kind = .document) {
        self.path = path
        self.headers = headers
        self.cost = cost
        self.subject = subject
        self.kind = kind
    }
}
