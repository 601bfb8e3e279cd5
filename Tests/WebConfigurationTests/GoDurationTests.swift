import Testing

@testable import WebConfiguration

@Suite struct GoDurationTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", nil), ("+0", nil), ("1s", 1_000_000_000), ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("-1.5h", nil), ("+5s", nil), (".5s", 500_000_000), ("1.s", 1_000_000_000),
            ("1us", 1000), ("1µs", 1000), ("1\u{3BC}s", 1000), ("1ns", 1), ("0.9ns", 0), ("1ms1us", 1_001_000),
            ("2562047h47m16.854775808s", nil),
            ("2562048h", nil), ("", nil), ("-", nil), ("+", nil), ("1", nil), ("s", nil), (".s", nil), ("1d", nil),
            ("1w", nil), ("1 s", nil), ("1s ", nil), ("1S", nil), ("--1s", nil), ("1s-1s", nil), ("1e3s", nil),
            ("0s0", nil),
            ("99999999999999999999s", nil), ("9223372036854775808ns9223372036854775808ns", nil),
            ("1.99999999999999999999s", 2_000_000_000),
        ] as [(String, Int64?)])
    func `Durations are parsed as in Go, but without a sign`(text: String, expected: Int64?) {
        #expect(parseGoDuration(text) == expected)
    }
}
