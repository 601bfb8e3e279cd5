internal import Bytes

/// An error in a query.
public struct QueryError: Error, Equatable {
    /// One line for the one who asked.
    public var line: String

    package init(_ problem: String) { line = "query: \(problem)" }

    package init(_ name: String, is value: some Collection<UInt8>, expected: String) {
        self.init("\(name) is \(quoted(String(decoding: value, as: UTF8.self), limit: 64)), expected \(expected)")
    }
}
