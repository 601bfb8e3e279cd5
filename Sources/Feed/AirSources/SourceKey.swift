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
    public init?(_ bytes: some BidirectionalCollection<UInt8>, origin: String) {
        func isAround(_ byte: UInt8) -> Bool { isJSONBlank(byte) || [0xEF, 0xBB, 0xBF].contains(byte) }
        let end = bytes.lastIndex { !isAround($0) }.map(bytes.index(after:)) ?? bytes.startIndex
        let key = bytes[..<end].drop(while: isAround)
        let body = key.prefix { $0 != UInt8(ascii: "=") }
        let padding = key.dropFirst(body.count)
        let isPlain = body.allSatisfy { isLetterOrDigit($0) || "-_.+/".utf8.contains($0) }
        // The `=` of Base64; a short word, or words with `_` between them, and one `=` are a variable without a value.
        let isName = padding.count == 1 && (body.count < 16 || body.contains(UInt8(ascii: "_")))
        let isPadding = padding.count <= 2 && padding.allSatisfy { $0 == UInt8(ascii: "=") }
        // A path begins with a slash or a point.
        let isPath = "/.".utf8.contains(body.first ?? UInt8(ascii: "/"))
        guard isPlain, isPadding, !isName, !isPath, key.count <= 256 else { return nil }
        text = String(decoding: key, as: UTF8.self)
        self.origin = origin
    }

}
