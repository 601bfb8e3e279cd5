/// Decodes padded base64 (RFC 4648, section 4); `nil` if the text is invalid.
package func decodeBase64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var count = 0
    for character in text.dropLast(padding) {
        guard let sextet = base64Alphabet.firstIndex(of: character) else { return nil }
        bits = bits << 6 | UInt32(sextet)
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
    }
    return bytes
}

private let base64Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// Encodes as padded base64 (RFC 4648, section 4).
package func encodeBase64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
        for index in 0..<4 {
            let sextet = Int(bits >> (18 - 6 * UInt32(index)) & 0x3F)
            text.append(index <= group.count ? base64Alphabet[sextet] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
