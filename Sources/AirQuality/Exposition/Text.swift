/// Numbers and strings as bytes of text.
extension [UInt8] {
    @inline(__always)
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Exactly `count` digits, leading zeros included.
    mutating func appendDigits(_ number: UInt64, count: Int) {
        var divisor: UInt64 = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    mutating func appendInteger(_ number: UInt64) {
        guard number >= 10 else {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number))
            return
        }
        var digits: InlineArray<20, UInt8> = .init(repeating: 0)
        var first = 20
        var rest = number
        while rest > 0 {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        for index in first..<20 { append(digits[index]) }
    }

    /// The shortest decimal that reads back as the same double; whole numbers without a point.
    ///
    /// - Parameter number: finite and not negative.
    mutating func appendNumber(_ number: Double) {
        // Most readings have few decimals. m / 10^4 with m below 2^53 is correctly rounded (both are exact doubles), so
        // where it gives the number back, its digits are the shortest there are.
        let scaled = (number * 10_000).rounded()
        guard scaled < 9_007_199_254_740_992, scaled / 10_000 == number else {
            append(contentsOf: number.description.utf8)
            return
        }
        var fraction = UInt64(scaled) % 10_000
        appendInteger(UInt64(scaled) / 10_000)
        guard fraction > 0 else { return }
        append(UInt8(ascii: "."))
        var divisor: UInt64 = 1000
        while fraction > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / divisor))
            fraction %= divisor
            divisor /= 10
        }
    }

    /// The same for JSON, where a whole number has `.0`.
    mutating func appendDecimal(_ number: Double) {
        let start = count
        appendNumber(number)
        if self[start...].allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) { append(".0") }
    }

    /// Epoch seconds with milliseconds, always three decimals, so that a line keeps its length.
    mutating func appendSeconds(_ time: Timestamp) {
        let milliseconds = UInt64(clamping: time)
        appendInteger(milliseconds / 1000)
        append(UInt8(ascii: "."))
        appendDigits(milliseconds % 1000, count: 3)
    }
}
