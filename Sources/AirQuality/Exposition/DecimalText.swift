/// A number in the form that a line of text has it in: digits, some of them behind the point.
///
/// Written from its end to its beginning, straight to where it belongs.
struct DecimalText: Sendable {
    private var digits: UInt64
    /// How many of the digits are behind the point.
    private var decimals: UInt8
    private var isNegative = false
    /// -7 for a number that ends in `e-07`; 0 for none.
    private var exponent: Int16 = 0
    private let byteCount: UInt8

    private init(digits: UInt64, decimals: UInt8, isNegative: Bool = false, exponent: Int16 = 0) {
        self.digits = digits
        self.decimals = decimals
        self.isNegative = isNegative
        self.exponent = exponent
        // A point has at least one digit in front of it.
        var count = max(Self.digitCount(digits), Int(decimals) &+ 1) &+ (decimals > 0 ? 1 : 0)
        if isNegative { count += 1 }
        if exponent != 0 { count += 2 + Self.exponentDigitCount(exponent) }
        byteCount = UInt8(truncatingIfNeeded: count)
    }

    /// Bytes.
    @inline(__always)
    var count: Int { Int(byteCount) }

    @inline(__always)
    init(_ number: UInt64) {
        self.init(digits: number, decimals: 0)
    }

    /// -1, 0, 1.
    @inline(__always)
    init(sign: Int8) {
        self.init(digits: sign == 0 ? 0 : 1, decimals: 0, isNegative: sign < 0)
    }

    /// Epoch seconds with milliseconds, always three decimals, so that a line keeps its length.
    @inline(__always)
    init(seconds time: Timestamp) {
        self.init(digits: UInt64(clamping: time), decimals: 3)
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
        var digits = UInt64(scaled)
        var decimals: UInt8 = 4
        while decimals > 0, digits % 10 == 0 {
            digits /= 10
            decimals -= 1
        }
        self.init(digits: digits, decimals: decimals)
    }

    /// - Parameter description: of a `Double`: at most 17 digits and an exponent of at most three.
    private init(description: String) {
        var digits: UInt64 = 0
        var decimals: UInt8 = 0
        var exponent: Int16 = 0
        var hasPoint = false
        var hasExponent = false
        var isSmall = false
        for byte in description.utf8 {
            switch byte {
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "e"): hasExponent = true
            case UInt8(ascii: "-"): isSmall = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if hasExponent {
                    exponent = exponent * 10 + Int16(digit)
                } else {
                    digits = digits * 10 + UInt64(digit)
                    if hasPoint { decimals += 1 }
                }
            default: break
            }
        }
        self.init(digits: digits, decimals: decimals, exponent: isSmall ? -exponent : exponent)
    }

    /// Writes the bytes before `end`.
    @inline(__always)
    func write(to text: inout MutableSpan<UInt8>, before end: Int) {
        var end = end
        if exponent != 0 { writeExponent(to: &text, before: &end) }
        var rest = digits
        if decimals > 0 {
            Self.write(&rest, count: Int(decimals), to: &text, before: &end)
            end &-= 1
            text[end] = UInt8(ascii: ".")
        }
        while rest >= 100 { Self.write(&rest, count: 2, to: &text, before: &end) }
        Self.write(&rest, count: rest >= 10 ? 2 : 1, to: &text, before: &end)
        if isNegative { text[end &- 1] = UInt8(ascii: "-") }
    }

    /// Takes the last digits off.
    @inline(__always)
    private static func write(
        _ rest: inout UInt64, count: Int, to text: inout MutableSpan<UInt8>, before end: inout Int
    ) {
        for _ in 0..<count {
            end &-= 1
            text[end] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    @inline(never)
    private func writeExponent(to text: inout MutableSpan<UInt8>, before end: inout Int) {
        var rest = UInt64(exponent.magnitude)
        Self.write(&rest, count: Self.exponentDigitCount(exponent), to: &text, before: &end)
        text[end - 1] = exponent < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
        text[end - 2] = UInt8(ascii: "e")
        end -= 2
    }

    private static func exponentDigitCount(_ exponent: Int16) -> Int {
        exponent.magnitude < 100 ? 2 : 3
    }

    @inline(__always)
    private static func digitCount(_ number: UInt64) -> Int {
        // Times are 13 digits, indices at most 7.
        if number < 10 { return 1 }
        var count = 2
        var rest = number / 100
        while rest >= 100 {
            rest /= 100
            count += 2
        }
        return rest >= 10 ? count + 2 : rest > 0 ? count + 1 : count
    }
}

extension [UInt8] {
    mutating func append(_ number: DecimalText) {
        append(addingCapacity: number.count) { output in
            output.append(repeating: 0, count: number.count)
            var text = output.mutableSpan
            number.write(to: &text, before: number.count)
        }
    }
}
