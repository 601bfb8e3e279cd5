internal import Bytes

/// The reason why a program does not compile, or gives no elements for a message: one line for people, in jq's words.
public struct JQError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Bytes of jq's words that are kept.
    static let maximumBytes = 256

    public let reason: String

    init(_ reason: String) {
        self.reason = onOneLine(String(decoding: reason.utf8.prefix(Self.maximumBytes), as: UTF8.self))
    }

    public var description: String { reason }
}
