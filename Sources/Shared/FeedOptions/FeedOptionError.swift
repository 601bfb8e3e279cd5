internal import Bytes

/// An option that cannot be used, together with others or because of its file.
public struct FeedOptionError: Error {
    /// Name of the flag in `FeedClientOptions.flags`.
    public let flag: String
    /// Position among several values of the flag.
    public var index: Int?
    /// Path of the file that the flag names.
    public var path: String?
    /// A usable value; nothing of a file's content, which may be secret.
    public let expected: String

    /// One line.
    /// - Parameter prefix: stands before the name of the flag where the user writes it: `--feed.` or `--`.
    public func line(prefix: String) -> String {
        prefix + flag + (path.map { " " + quoted($0) } ?? "") + ": expected \(expected)"
    }
}
