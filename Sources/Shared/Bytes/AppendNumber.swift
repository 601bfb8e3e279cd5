extension [UInt8] {
    @inlinable
    package mutating func append(_ text: String) { append(text.utf8Span.span) }

    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    /// An integer, or a decimal with a fixed number of decimals: `number` is in units of the last one.
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

    /// The shortest decimal that reads back as the same finite double; whole numbers without a point.
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
