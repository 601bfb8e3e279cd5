/// Why a text is not a value of a flag.
public struct RejectedText: Error, Equatable {
    public let text: String
    /// Describes valid text for the error: "expected …".
    public let expected: String

    public init(_ text: String, expected: String) {
        self.text = text
        self.expected = expected
    }
}
