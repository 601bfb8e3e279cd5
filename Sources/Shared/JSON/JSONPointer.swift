/// Returns the reference tokens of a JSON Pointer (RFC 6901), none for the whole document.
///
/// - Returns: `nil` if nonempty text does not begin with `/`, or a `~` is not part of `~0` or `~1`.
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

/// Returns the path to a field of an object, or, if the text begins with `/`, of a JSON Pointer into the object.
public func jsonPointer(member text: String) -> [[UInt8]]? {
    text.utf8.first == UInt8(ascii: "/") ? jsonPointer(text) : [Array(text.utf8)]
}
