/// The reason why a file is not a recording, or not the CSV that is wanted.
public struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line for people: the line of the file, what was wrong and what was expected.
    public let description: String

    package init(line: Int, _ reason: String) { description = "line \(line): \(reason)" }
}
