internal import Bytes

/// The reason why a program does not compile, or gives no elements for a message: one line for people, in jq's words.
public struct JQError: Error, Sendable, Equatable, CustomStringConvertible {
    public let reason: String

    /// Takes the first line, at most 256 bytes of it, without what only jq's own program means.
    init(_ words: String) {
        var line = words.split(whereSeparator: \.isNewline).first ?? "unknown error"
        if line.hasPrefix("jq: error: ") { line = line.dropFirst("jq: error: ".count) }
        if line.hasSuffix(":") { line = line.dropLast() }
        reason = onOneLine(String(decoding: line.utf8.prefix(256), as: UTF8.self))
    }

    public var description: String { reason }
}
