internal import Bytes

/// An option that cannot be used, together with others or because of its file.
public struct FeedOptionError: Error, CustomStringConvertible {
    /// Name of the flag as the user writes it, without the dashes.
    public let flag: String
    /// Position among several values of the flag.
    public let index: Int?
    /// Path of the file that the flag names.
    public let path: String?
    /// A usable value; nothing of a file's content, which may be secret.
    public let expected: String

    package init(flag: String, index: Int? = nil, path: String? = nil, expected: String) {
        self.flag = flag
        self.index = index
        self.path = path
        self.expected = expected
    }

    /// One line for people.
    public var description: String {
        "--" + flag + (path.map { " " + quoted(masked(path: $0)) } ?? "") + ": expected \(expected)"
    }
}
