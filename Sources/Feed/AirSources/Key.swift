/// The expected form of a text that cannot be a key: one that would break a header or an address, or has quotes or a
/// variable's name around it, as copied from a file of variables; `nil` for a key.
public func keyMistake(_ text: String) -> String? {
    let name = text.prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
    let value = text.dropFirst(name.count)
    if ["\"", "'"].contains(where: { text.hasPrefix($0) || text.hasSuffix($0) }) { return "the key without quotes" }
    // A key may end in the `=` of Base64.
    if !name.isEmpty, value.first == "=", value.contains(where: { $0 != "=" }) {
        return "the key without \(name)= before it"
    }
    let isPrintable = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    return isPrintable && !text.isEmpty && text.utf8.count <= 256
        ? nil : "one line of printable ASCII without blanks, at most 256 bytes"
}
