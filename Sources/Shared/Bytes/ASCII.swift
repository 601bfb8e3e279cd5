// Byte-wise handling of text with an ASCII grammar: header fields, URLs, numbers, names of flags.

@inlinable
package func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

@inlinable
package func isLetterOrDigit(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 || isDigit(byte) }

/// White space between JSON tokens (RFC 8259, section 2).
@inlinable @inline(__always)
package func isJSONBlank(_ byte: UInt8) -> Bool {
    byte <= 0x20 && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
}

/// Space or tab.
@inlinable
package func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

@inlinable
package func lowercase(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}

/// Ignores the case of ASCII letters, as in header field names and tokens.
@inlinable
package func equalsIgnoringCase(_ one: some Collection<UInt8>, _ other: String) -> Bool {
    one.count == other.utf8.count && zip(one, other.utf8).allSatisfy { lowercase($0) == lowercase($1) }
}

/// Returns the text without surrounding spaces and tabs.
@inlinable
package func trimmed<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text.SubSequence {
    let start = text.firstIndex { !isBlank($0) } ?? text.endIndex
    let end = text[start...].lastIndex { !isBlank($0) }.map(text.index(after:)) ?? start
    return text[start..<end]
}

package func trimmed(_ text: Substring) -> Substring { Substring(trimmed(text.utf8)) }

/// Parses one or more decimal digits; `nil` for anything else, or if the number does not fit.
@inlinable
package func decimalNumber<Number: FixedWidthInteger>(_ text: some Sequence<UInt8>) -> Number? {
    var number: Number?
    for byte in text {
        guard isDigit(byte), let digit = Number(exactly: byte &- UInt8(ascii: "0")) else { return nil }
        let (product, isProductTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, isSumTooLarge) = product.addingReportingOverflow(digit)
        guard !isProductTooLarge, !isSumTooLarge else { return nil }
        number = sum
    }
    return number
}
