extension [UInt8] {
    /// Appends an integer, or a decimal with a fixed number of decimal places: `number` is in units of the last one.
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

    /// Appends the shortest decimal that reads back as the same finite double; whole numbers have no decimal point.
    @inlinable
    package mutating func appendNumber(_ number: Double) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // `description` is slow, and adds ".0" to whole numbers up to 2⁵³, an exponent to larger ones.
        if let whole = UInt64(exactly: number.magnitude), whole <= 1 << 53 { return appendInteger(whole) }
        append(number.magnitude.description)
    }

    /// Appends a number for JSON, whole numbers with `.0`.
    @inlinable
    package mutating func appendDecimal(_ number: Double) {
        let start = count
        appendNumber(number)
        if self[start...].allSatisfy({ isDigit($0) }) { append(".0") }
    }
}
