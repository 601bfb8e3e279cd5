internal import Bytes

/// The expected form of a text that cannot be a key of a source, perhaps because a name, quotes or brackets stand
/// around it; `nil` for a key.
public func keyMistake(_ text: String) -> String? {
    let body = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.utf8.dropFirst(body.count)
    let isPlain = body.allSatisfy { isLetterOrDigit($0) || "-_.+/".utf8.contains($0) }
    // The `=` of Base64; a short word, or words with `_` between them, and one `=` are a variable that has no value.
    let isName = padding.count == 1 && (body.count < 16 || body.contains(UInt8(ascii: "_")))
    let isPadding = padding.count <= 2 && padding.allSatisfy { $0 == UInt8(ascii: "=") }
    // A path begins with a slash or a point.
    let isPath = "/.".utf8.contains(body.first ?? UInt8(ascii: "/"))
    if isPlain, isPadding, !isName, !isPath, text.utf8.count <= 256 { return nil }
    return "the key alone, without name, quotes or brackets: at most 256 letters, digits and -_.+/, = only at the end"
}
