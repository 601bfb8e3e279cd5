/// Whether a text can be a key: one that does not break a header or an address.
public func isKey(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
}

/// The expected form of a key that came with quotes or a variable's name around it, as copied from a file of variables;
/// `nil` for other keys.
public func keyWrapping(_ text: String) -> String? {
    if ["\"", "'"].contains(where: { text.hasPrefix($0) || text.hasSuffix($0) }) { return "the key without quotes" }
    let name = text.prefix { $0 != "=" }
    let isName = !name.isEmpty && name.utf8.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "_") }
    let value = text.dropFirst(name.count + 1)
    return isName && !value.isEmpty && value.contains { $0 != "=" } ? "the key without \(name)= before it" : nil
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
}
