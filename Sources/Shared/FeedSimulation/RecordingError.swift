/// Reason why a file is not a valid recording, or not the expected CSV.
public struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line: the line number in the file, the problem and what was expected.
    public let description: String

    package init(line: Int, _ reason: String) { description = "line \(line): \(reason)" }
}
