/// The reason why a program cannot start with the flags that it was given.
public struct FlagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line for people: which flag, which value (secrets as `***`), what was expected.
    public let line: String

    public init(_ line: String) { self.line = line }

    public var description: String { line }
}
