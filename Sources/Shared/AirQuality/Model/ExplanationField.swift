/// A part of an explanation why messages give no readings: a name as in the log, and a text on one line.
public struct ExplanationField: Sendable, Equatable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
