/// Bounds of one message in a program.
public struct JQLimits: Sendable, Equatable {
    /// Values that a program may give for a message.
    public var results = 100_000
    /// Time of the processor for a message, in seconds, 1 or more.
    public var seconds = 1
    /// Memory of the worker for its data, in bytes: libjq takes about fourteen times the message.
    public var memoryBytes: Int

    /// - Parameter messageBytes: the length of the longest message.
    public init(messageBytes: Int = 4 << 20) { memoryBytes = 64 << 20 + 16 * messageBytes }
}
