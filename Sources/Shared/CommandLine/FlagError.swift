/// Why a program cannot start with the given flags.
public struct FlagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line naming the flag, its value (secrets as `***`) and what was expected.
    public let line: String

    public init(_ line: String) { self.line = line }

    public var description: String { line }
}
