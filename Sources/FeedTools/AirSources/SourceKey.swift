internal import Bytes

/// An API key for a source.
public struct SourceKey: Sendable, Equatable {
    /// Description of a valid key, for errors.
    public static let form =
        "the key alone, without name, quotes or brackets: at most 256 letters, digits and -_.+/, = only at the end"

    public let text: String
    /// Where the key came from, for the log.
    public let origin: String

    /// Trims the byte order mark, blanks and line ends that editors and secret stores add.
    ///
    /// - Returns: `nil` if the rest cannot be a key, for example because it includes a name, quotes or brackets.
    public init?(_ bytes: some Collection<UInt8>, origin: String) {
        // Neither a path nor `NAME=`, which is a variable without a value.
        let key = /(?:[A-Za-z0-9_-][A-Za-z0-9_.+\/-]{0,253}(?:==)?|[A-Za-z0-9-][A-Za-z0-9.+\/-]{15,254}=)/
        let text = String(decoding: bytes, as: UTF8.self)
        guard let match = text.wholeMatch(of: /[\s\x{FEFF}]*(\S+?)[\s\x{FEFF}]*/), match.1.wholeMatch(of: key) != nil
        else { return nil }
        self.text = String(match.1)
        self.origin = origin
    }
}
