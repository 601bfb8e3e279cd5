/// An error in a query.
public struct QueryError: Error, Equatable {
    /// One line for the one who asked.
    public var line: String

    package init(_ problem: String) { line = "query: \(problem)" }
}
