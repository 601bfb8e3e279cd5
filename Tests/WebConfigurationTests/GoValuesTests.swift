import Testing

@testable import WebConfiguration

@Suite struct GoValuesTests {
    @Test(
        "plain scalars",
        arguments: [
            ("", .null), ("~", .null), ("null", .null), ("Null", .null), ("NULL", .null), ("nUll", .text),
            ("nil", .text),
            ("y", .boolean(true)), ("Yes", .boolean(true)), ("ON", .boolean(true)), ("true", .boolean(true)),
            ("n", .boolean(false)), ("no", .boolean(false)), ("Off", .boolean(false)), ("FALSE", .boolean(false)),
            ("tRUE", .text), ("yES", .text), ("0", .number(0)), ("-0", .number(0)), ("+7", .number(7)),
            ("-12", .number(-12)), ("0x1F", .number(31)), ("1.5", .number(1.5)), (".5", .number(0.5)),
            ("-.5", .number(-0.5)), ("1e3", .number(1000)), ("1E+2", .number(100)),
            ("9223372036854775808", .number(0x1p63)),
            // What yaml.v2 takes and nobody means.
            ("010", .text), ("-010", .text), ("08", .text), ("0o17", .text), ("0b101", .text), ("1_000", .text),
            (".inf", .text), (".nan", .text),
            ("0x", .text), ("0x-5", .text), ("0x+5", .text), ("+-5", .text), ("--5", .text), ("1e", .text),
            (".", .text), ("-", .text), ("+.", .text), (".e3", .text), ("1e400", .text), ("0x1p3", .text),
            ("inf", .text), ("nan", .text), ("1:30", .text), ("2001-01-01", .text), ("1s", .text), ("٣", .text),
        ] as [(String, GoScalar)])
    func plain(text: String, expected: GoScalar) {
        #expect(GoScalar(.init(text: text, tag: nil, isPlain: true)) == expected)
        #expect(GoScalar(.init(text: text, tag: nil, isPlain: false)) == .text)
    }

    @Test(
        "tags decide",
        arguments: [
            ("int", "5", .number(5)), ("int", "x", nil), ("bool", "yes", .boolean(true)),
            ("bool", "1", nil), ("float", "3", .number(3)), ("float", "3.5", .number(3.5)), ("float", "x", nil),
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
