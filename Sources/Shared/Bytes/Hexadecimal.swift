@usableFromInline
func hexDigit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } }

/// Formats a number in hexadecimal, zero-padded to `digits`.
package func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}

/// Decodes percent-encoding (RFC 3986, section 2.1): `%41` is A. `nil` if a `%` lacks its two hexadecimal digits.
@inlinable
package func percentDecoded(_ text: some Sequence<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.underestimatedCount)
    var rest = text.makeIterator()
    while let byte = rest.next() {
        switch byte {
        case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else { return nil }
            bytes.append(high << 4 | low)
        default: bytes.append(byte)
        }
    }
    return bytes
}

/// Percent-encodes all but unreserved characters (RFC 3986, section 2.3) and, with `keepsSlashes`, slashes.
package func percentEncoded(_ bytes: some Sequence<UInt8>, keepsSlashes: Bool = false) -> String {
    var text = ""
    for byte in bytes {
        if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            text += "%" + hexadecimal(byte, digits: 2).uppercased()
        }
    }
    return text
}
