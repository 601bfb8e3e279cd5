/// The reference tokens of a JSON Pointer (RFC 6901), none for the document itself.
///
/// - Returns: `nil` when the text neither is empty nor begins with `/`, or holds a `~` that is not `~0` or `~1`.
public func jsonPointer(_ text: String) -> [[UInt8]]? {
    var tokens: [[UInt8]] = []
    for raw in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
        let parts = raw.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        var token = Array(parts[0])
        for escaped in parts.dropFirst() {
            switch escaped.first {
            case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
            default: return nil
            }
            token += escaped.dropFirst()
        }
        tokens.append(token)
    }
    return tokens.removeFirst().isEmpty ? tokens : nil
}

/// A member of an object, or where the text begins with `/`, what it points to in the object.
public func jsonPointer(member text: String) -> [[UInt8]]? {
    text.utf8.first == UInt8(ascii: "/") ? jsonPointer(text) : [Array(text.utf8)]
}
