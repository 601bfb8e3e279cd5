internal import Bytes

/// An option that is unusable because of other options or its file.
public struct FeedOptionError: Error, CustomStringConvertible {
    /// The flag as the user writes it, without the dashes.
    public let flag: String
    /// Position among the flag's values, if it has several.
    public let index: Int?
    /// Path of the file that the flag names.
    public let path: String?
    /// Describes a usable value. Contains nothing from a file, which may be secret.
    public let expected: String

    package init(flag: String, index: Int? = nil, path: String? = nil, expected: String) {
        self.flag = flag
        self.index = index
        self.path = path
        self.expected = expected
    }

    /// Human-readable, one line.
    public var description: String {
        "--" + flag + (path.map { " " + quoted(masked(path: $0)) } ?? "") + ": expected \(expected)"
    }
}
