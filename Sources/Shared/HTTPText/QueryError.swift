/// An error in a query.
public struct QueryError: Error, Equatable {
    /// One-line message for the client.
    public var line: String

    package init(_ problem: String) { line = "query: \(problem)" }
}
