internal import Bytes

/// The reason why a program does not compile, or gives no elements for a message: one line for people, in jq's words.
public struct JQError: Error, Sendable, Equatable, CustomStringConvertible {
    private static let maximumBytes = 256

    public let reason: String

    /// Takes the first line, without what only jq's own program means.
    init(_ words: String) {
        var line = words.split(whereSeparator: \.isNewline).first ?? "unknown error"
        if line.hasPrefix("jq: error: ") { line = line.dropFirst("jq: error: ".count) }
        if line.hasSuffix(":") { line = line.dropLast() }
        reason = onOneLine(String(decoding: line.utf8.prefix(Self.maximumBytes), as: UTF8.self))
    }

    public var description: String { reason }
}
