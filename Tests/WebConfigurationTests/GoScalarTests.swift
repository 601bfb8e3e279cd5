import Testing

@testable import WebConfiguration

@Suite struct GoScalarTests {
    @Test(
        "plain scalars",
        arguments: [
            ("", .null), ("~", .null), ("null", .null), ("Null", .null), ("NULL", .null), ("nUll", .text),
            ("nil", .text),
            ("y", .boolean(true)), ("Yes", .boolean(true)), ("ON", .boolean(true)), ("true", .boolean(true)),
            ("n", .boolean(false)), ("no", .boolean(false)), ("Off", .boolean(false)), ("FALSE", .boolean(false)),
            ("tRUE", .text), ("yES", .text), ("0", .integer(0)), ("-0", .integer(0)), ("+7", .integer(7)),
            ("-12", .integer(-12)), ("010", .integer(8)), ("-010", .integer(-8)), ("08", .float(8)),
            ("0o17", .integer(15)),
            ("0O17", .integer(15)), ("0x1F", .integer(31)), ("0X1f", .integer(31)), ("0b101", .integer(5)),
            ("-0b11", .integer(-3)), ("1_000", .integer(1000)), ("1__0_", .integer(10)), ("_1", .text),
            ("-_1", .integer(-1)), ("0_7", .integer(7)), ("0x", .text), ("0b", .text), ("0b2", .text), ("+-5", .text),
            ("--5", .text), ("0x-5", .text), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .integer(nil)), ("-9223372036854775808", .integer(.min)),
            ("18446744073709551615", .integer(nil)), ("18446744073709551616", .float(0x1p64)),
            ("-9223372036854775809", .float(-0x1p63)), ("1.5", .float(1.5)), ("1.", .float(1)), (".5", .float(0.5)),
            ("-.5", .float(-0.5)), ("._5", .text), ("1_0.5", .float(10.5)), ("1e3", .float(1000)),
            ("1E+2", .float(100)),
            ("1e", .text), (".", .text), ("-", .text), ("+.", .text), (".e3", .text), ("1e400", .text),
            ("5.e3", .float(5000)),
            ("0x1p3", .text), (".inf", .float(.infinity)), ("+.INF", .float(.infinity)), ("-.Inf", .float(-.infinity)),
            ("inf", .text), ("nan", .text), ("1:30", .text), ("2001-01-01", .text), ("1s", .text), ("٣", .text),
        ] as [(String, GoScalar)])
    func plain(text: String, expected: GoScalar) {
        #expect(GoScalar(.init(text: text, tag: nil, isPlain: true)) == expected)
        #expect(GoScalar(.init(text: text, tag: nil, isPlain: false)) == .text)
    }

    @Test("not a number is a float") func notANumber() {
        guard case .float(let value)? = GoScalar(.init(text: ".nan", tag: nil, isPlain: true)) else {
            Issue.record("no float")
            return
        }
        #expect(value.isNaN)
    }

    @Test(
        "tags decide",
        arguments: [
            ("int", "5", .integer(5)), ("int", "5.5", nil), ("int", "x", nil), ("bool", "yes", .boolean(true)),
            ("bool", "1", nil), ("float", "3", .float(3)), ("float", "3.5", .float(3.5)), ("float", "x", nil),
            ("null", "~", .null), ("null", "x", nil), ("str", "5", .text), ("str", "~", .text),
            ("binary", "aGk=", .text),
            ("timestamp", "2001-01-01", nil), ("unknown", "5", .text),
        ] as [(String, String, GoScalar?)])
    func tags(tag: String, text: String, expected: GoScalar?) {
        #expect(GoScalar(.init(text: text, tag: "tag:yaml.org,2002:" + tag, isPlain: false)) == expected)
    }

    @Test(
        "durations",
        arguments: [
            ("0", 0), ("-0", 0), ("+0", 0), ("1s", 1_000_000_000), ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("-1.5h", -5_400_000_000_000), ("+5s", 5_000_000_000), (".5s", 500_000_000), ("1.s", 1_000_000_000),
            ("1us", 1000), ("1µs", 1000), ("1\u{3BC}s", 1000), ("1ns", 1), ("0.9ns", 0), ("1ms1us", 1_001_000),
            ("2562047h47m16.854775807s", .max), ("-2562047h47m16.854775808s", .min), ("2562047h47m16.854775808s", nil),
            ("2562048h", nil), ("", nil), ("-", nil), ("+", nil), ("1", nil), ("s", nil), (".s", nil), ("1d", nil),
            ("1w", nil), ("1 s", nil), ("1s ", nil), ("1S", nil), ("--1s", nil), ("1s-1s", nil), ("1e3s", nil),
            ("0s0", nil),
            ("99999999999999999999s", nil), ("9223372036854775808ns9223372036854775808ns", nil),
            ("1.99999999999999999999s", 2_000_000_000),
        ] as [(String, Int64?)])
    func durations(text: String, expected: Int64?) {
        #expect(parseGoDuration(text) == expected)
    }
}
