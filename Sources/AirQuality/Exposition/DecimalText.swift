import JSON

/// A number in the form that a line of text has it in, at most 24 bytes.
///
/// Held in words, so that it is written eight bytes at a time to where it belongs.
struct DecimalText: Sendable {
    /// The bytes: the most significant of `last` is the last one. Beyond `count` of them there may be anything.
    private var first: UInt64 = 0
    private var middle: UInt64 = 0
    private var last: UInt64 = 0
    private var byteCount: UInt8 = 0

    private init() {}

    /// Bytes.
    @inline(__always)
    var count: Int { Int(byteCount) }

    @inline(__always)
    init(_ number: UInt64) {
        self.init()
        guard number >= 10 else {
            last = (UInt64(UInt8(ascii: "0")) &+ number) &<< 56
            byteCount = 1
            return
        }
        let digits = Self.digits(number % 100_000_000)
        last = digits | Self.zeros
        if number < 100_000_000 {
            byteCount = 8 &- Self.leadingZeros(digits)
        } else {
            self = DecimalText(number / 100_000_000, before: last)
        }
    }

    /// - Parameter last: the eight digits that follow the number.
    @inline(never)
    private init(_ number: UInt64, before last: UInt64) {
        self.init()
        self.last = last
        let digits = Self.digits(number % 100_000_000)
        middle = digits | Self.zeros
        byteCount = 16 &- Self.leadingZeros(digits)
        guard number >= 100_000_000 else { return }
        let firstDigits = Self.digits(number / 100_000_000)
        first = firstDigits | Self.zeros
        byteCount = 24 &- Self.leadingZeros(firstDigits)
    }

    /// -1, 0, 1.
    @inline(__always)
    init(sign: Int8) {
        self.init(UInt64(sign.magnitude))
        guard sign < 0 else { return }
        last |= UInt64(UInt8(ascii: "-")) &<< 48
        byteCount = 2
    }

    /// Epoch seconds with milliseconds, always three decimals, so that a line keeps its length.
    @inline(__always)
    init(seconds time: Timestamp) {
        // From 2001 to 2286.
        guard time >= 1_000_000_000_000, time < 10_000_000_000_000 else {
            self.init(unusual: UInt64(clamping: time))
            return
        }
        self.init()
        let (seconds, milliseconds) = UInt64(time).quotientAndRemainder(dividingBy: 1000)
        // Four digits of seconds, a zero that becomes the point, and three of milliseconds.
        let digits = Self.digits(seconds % 10_000 &* 10_000 &+ milliseconds)
        last = (digits | Self.zeros) ^ (UInt64(UInt8(ascii: "0") ^ UInt8(ascii: ".")) &<< 32)
        middle = Self.digits(seconds / 10_000) | Self.zeros
        byteCount = 14
    }

    @inline(never)
    private init(unusual milliseconds: UInt64) {
        self.init(milliseconds / 1000)
        append(UInt8(ascii: "."))
        var divisor: UInt64 = 100
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(milliseconds / divisor % 10))
            divisor /= 10
        }
    }

    /// The shortest decimal that reads back as the same double; whole numbers without a point.
    ///
    /// - Parameter number: finite and not negative.
    @inline(__always)
    init(shortest number: Double) {
        // Most readings have few decimals. m / 10^4 with m below 2^53 is correctly rounded (both are exact doubles), so
        // where it gives the number back, its digits are the shortest there are.
        let scaled = number * 10_000 + 0.5
        guard scaled < 9_007_199_254_740_992, Double(UInt64(scaled)) / 10_000 == number else {
            self.init(description: number.description)
            return
        }
        self.init(tenThousandths: UInt64(scaled))
    }

    @inline(__always)
    private init(tenThousandths number: UInt64) {
        guard number < 100_000_000 else {
            self.init(largeTenThousandths: number)
            return
        }
        self.init()
        // Four digits before the point, and four behind it.
        let digits = Self.digits(number)
        let whole = digits & 0xFFFF_FFFF
        let fraction = digits &>> 32
        let wholeCount = 4 &- min(3, Self.leadingZeros(whole))
        let wholeText = whole | Self.zeros &>> 32
        guard fraction != 0 else {
            last = wholeText &<< 32
            byteCount = wholeCount
            return
        }
        let decimals = 8 &- UInt64(truncatingIfNeeded: fraction.leadingZeroBitCount &>> 3)
        let width = decimals &* 8
        // Zeros at the end are pushed out; the point and the whole number stand before what is left.
        last =
            (fraction | Self.zeros &>> 32) &<< (64 &- width)
            | UInt64(UInt8(ascii: ".")) &<< (56 &- width) | (wholeText &<< 24) &>> width
        // Only with four decimals, and then it is the first digit of four.
        middle = wholeText &<< 56
        byteCount = wholeCount &+ 1 &+ UInt8(truncatingIfNeeded: decimals)
    }

    @inline(never)
    private init(largeTenThousandths number: UInt64) {
        self.init(number / 10_000)
        var rest = number % 10_000
        if rest > 0 { append(UInt8(ascii: ".")) }
        var divisor: UInt64 = 1000
        while rest > 0 {
            append(UInt8(ascii: "0") + UInt8(rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    /// - Parameter description: of a `Double`: at most 17 digits, a point, and an exponent of at most three digits.
    @inline(never)
    private init(description: String) {
        self.init()
        for byte in description.hasSuffix(".0") ? description.dropLast(2).utf8 : description[...].utf8 { append(byte) }
    }

    private mutating func append(_ byte: UInt8) {
        precondition(byteCount < 24)
        first = first >> 8 | middle << 56
        middle = middle >> 8 | last << 56
        last = last >> 8 | UInt64(byte) << 56
        byteCount += 1
    }

    // MARK: Digits

    /// Eight times "0".
    private static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, each in a byte, the first in the least significant one.
    @inline(__always)
    private static func digits(_ number: UInt64) -> UInt64 {
        // All fours, then all pairs, then all digits are divided at once: by 100 as × 10,486 / 2^20, which is right below
        // 43,698, and by 10 as × 103 / 2^10, right below 178.
        let fours = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = (fours &* 10_486) &>> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
        return tens | (pairs &- tens &* 10) &<< 8
    }

    /// How many of the digits are zeros that nothing but zeros stands before.
    @inline(__always)
    private static func leadingZeros(_ digits: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: digits.trailingZeroBitCount &>> 3)
    }

    // MARK: Writing

    /// Writes the bytes before `end`.
    @inline(__always)
    func write(to text: inout MutableSpan<UInt8>, before end: Int) {
        let count = count
        // The last bytes and the first ones, which may have some in common.
        if count > 16 {
            text.store(last, at: end &- 8)
            text.store(middle, at: end &- 16)
            text.store(Self.firstEight(first, middle, unused: 24 &- count), at: end &- count)
        } else if count > 8 {
            text.store(last, at: end &- 8)
            text.store(Self.firstEight(middle, last, unused: 16 &- count), at: end &- count)
        } else if count >= 4 {
            text.store(UInt32(truncatingIfNeeded: last &>> 32), at: end &- 4)
            text.store(
                UInt32(truncatingIfNeeded: last &>> UInt64(truncatingIfNeeded: (8 &- count) &* 8)), at: end &- count)
        } else {
            text[end &- 1] = UInt8(truncatingIfNeeded: last &>> 56)
            if count >= 2 { text[end &- 2] = UInt8(truncatingIfNeeded: last &>> 48) }
            if count >= 3 { text[end &- 3] = UInt8(truncatingIfNeeded: last &>> 40) }
        }
    }

    /// Eight bytes from the first used one on.
    ///
    /// - Parameter unused: bytes of `first`, 0 to 7.
    @inline(__always)
    private static func firstEight(_ first: UInt64, _ second: UInt64, unused: Int) -> UInt64 {
        let width = UInt64(truncatingIfNeeded: unused &* 8)
        // In two steps, because by 64 bits is no shift.
        return first &>> width | (second &<< 1) &<< (63 &- width)
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    mutating func append(_ number: DecimalText) {
        append(repeating: 0, count: number.count)
        let end = count
        var text = mutableSpan
        number.write(to: &text, before: end)
    }
}

extension [UInt8] {
    mutating func append(_ number: DecimalText) {
        append(addingCapacity: number.count) { $0.append(number) }
    }
}
