internal import Bytes

/// Splits at separators outside quotation marks (RFC 9110 section 5.6.4) and returns the first `limit` parts.
package func splitUnquoted(
    _ text: Substring.UTF8View, at separator: UInt8, limit: Int
) -> ArraySlice<Substring.UTF8View> {
    var isQuoted = false
    var isEscaped = false
    return text.split(maxSplits: limit, omittingEmptySubsequences: false) { byte in
        if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
        isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
        return byte == separator && !isQuoted
    }.prefix(limit)
}

/// Removes surrounding spaces and tabs, quotation marks and the backslashes of escapes.
package func unquoted(_ part: Substring.UTF8View) -> String {
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in trimmed(part) {
        let isMark = !isEscaped && (byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\"))
        if !isMark { bytes.append(byte) }
        isEscaped = isMark && byte == UInt8(ascii: "\\")
    }
    return String(decoding: bytes, as: UTF8.self)
}
