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
        append(DecimalText(number))
    }

    /// The shortest decimal that reads back as the same double; whole numbers without a point.
    ///
    /// - Parameter number: finite and not negative.
    mutating func appendNumber(_ number: Double) {
        append(DecimalText(shortest: number))
    }

    /// The same for JSON, where a whole number has `.0`.
    mutating func appendDecimal(_ number: Double) {
        let start = count
        appendNumber(number)
        if self[start...].allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) { append(".0") }
    }

    /// Epoch seconds with milliseconds.
    mutating func appendSeconds(_ time: Timestamp) {
        append(DecimalText(seconds: time))
    }
}
