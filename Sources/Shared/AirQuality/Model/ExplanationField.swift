/// Part of an explanation of why messages yield no readings: a log key and a one-line text.
public struct ExplanationField: Sendable, Equatable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
