// Text whose grammar is ASCII, byte by byte: header fields, addresses, numbers, names of flags.

@inlinable
package func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

@inlinable
package func isLetterOrDigit(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 || isDigit(byte) }

/// White space between the tokens of JSON (RFC 8259, section 2).
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

/// ASCII letters of both cases are equal, as in header names and tokens.
@inlinable
package func equalsIgnoringCase(_ one: some Collection<UInt8>, _ other: String) -> Bool {
    one.count == other.utf8.count && zip(one, other.utf8).allSatisfy { lowercase($0) == lowercase($1) }
}

/// Without the spaces and tabs around it.
@inlinable
package func trimmed<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text.SubSequence {
    let start = text.firstIndex { !isBlank($0) } ?? text.endIndex
    let end = text[start...].lastIndex { !isBlank($0) }.map(text.index(after:)) ?? start
    return text[start..<end]
}

/// The range of a part of bytes without blanks at its ends.
@inlinable @inline(__always)
package func trimmed(
    _ bytes: Span<UInt8>, in range: Range<Int>, of isBlank: (UInt8) -> Bool = isBlank
) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, isBlank(bytes[start]) { start += 1 }
    while start < end, isBlank(bytes[end - 1]) { end -= 1 }
    return start..<end
}

package func trimmed(_ text: Substring) -> Substring { Substring(trimmed(text.utf8)) }

/// A number in decimal digits alone, at least one; `nil` for anything else, and when it does not fit.
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

package func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

extension String {
    /// The text behind the prefix; `nil` when it does not begin with it.
    package func dropping(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}

// MARK: Runs of bytes

/// FNV-1a, 64 bits: the same in every process. Anyone can make bytes collide, so it is never the key of a table.
package func fnv1a(_ bytes: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3 }
    return hash
}

@inlinable
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
package func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index]
    }
    return left.count < right.count
}

// MARK: Numbers and text, appended to bytes

extension [UInt8] {
    @inlinable
    package mutating func append(_ text: String) {
        append(text.utf8Span.span)
    }

    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    /// An integer, or a decimal with a fixed number of decimals.
    ///
    /// - Parameter number: in units of the last decimal.
    @inlinable
    package mutating func appendInteger(_ number: UInt64, decimals: Int = 0) {
        var text = InlineArray<24, UInt8>(repeating: 0)
        var start = text.count
        var rest = number
        for _ in 0..<decimals {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        if decimals > 0 {
            start -= 1
            text[start] = UInt8(ascii: ".")
        }
        repeat {
            start -= 1
            text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(text.span.extracting(start...))
    }

    /// The shortest decimal that reads back as the same double; whole numbers without a point.
    ///
    /// - Parameter number: finite.
    @inlinable
    package mutating func appendNumber(_ number: Double) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // Above 2⁵³ a description has an exponent, below it ".0"; and it is slow.
        if let whole = UInt64(exactly: number.magnitude), whole <= 1 << 53 { return appendInteger(whole) }
        append(number.magnitude.description)
    }

    /// Appends a number as JSON has it, a whole one with `.0`.
    @inlinable
    package mutating func appendDecimal(_ number: Double) {
        let start = count
        appendNumber(number)
        if self[start...].allSatisfy({ isDigit($0) }) { append(".0") }
    }
}
