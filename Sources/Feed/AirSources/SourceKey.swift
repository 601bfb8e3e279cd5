internal import Bytes

/// A source's key.
public struct SourceKey: Sendable, Equatable {
    /// The form of a text that may be a key, for an error.
    public static let form =
        "the key alone, without name, quotes or brackets: at most 256 letters, digits and -_.+/, = only at the end"

    public let text: String
    /// Origin of the key, for the log.
    public let origin: String

    /// Takes the key without the byte order mark, blanks and line ends that editors and secret stores put around it;
    /// `nil` when it cannot be one, perhaps because a name, quotes or brackets stand around it.
    public init?(_ bytes: some Collection<UInt8>, origin: String) {
        // No path, and no short word or words with `_` between them and one `=`: that is a variable without a value.
        let key = /(?:[A-Za-z0-9_-][A-Za-z0-9_.+\/-]{0,253}(?:==)?|[A-Za-z0-9-][A-Za-z0-9.+\/-]{15,254}=)/
        let text = String(decoding: bytes, as: UTF8.self)
        guard let match = text.wholeMatch(of: /[\s\x{FEFF}]*(\S+?)[\s\x{FEFF}]*/), match.1.wholeMatch(of: key) != nil
        else { return nil }
        self.text = String(match.1)
        self.origin = origin
    }
}
