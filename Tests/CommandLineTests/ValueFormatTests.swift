import Bytes
import Testing

@testable import CommandLine

struct DurationTests {
    @Test(arguments: [
        ("0", 0), ("0s", 0), ("500ms", 500), ("30s", 30_000), ("1m30s", 90_000), ("4h", 14_400_000),
        ("4d", 345_600_000), ("1w", 604_800_000), ("3w2d1h", 1_990_800_000), ("10y", 315_360_000_000),
        ("1y1w1d1h1m1s1ms", 32_230_861_001), ("007s", 7000), ("292y", 9_208_512_000_000),
    ])
    func `Prometheus durations are parsed`(text: String, milliseconds: Int) {
        #expect(ValueFormat.duration().parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "1", "00", "-1s", "+1s", "1.5s", " 1s", "1s ", "1 s", "s", "1S", "1us", "1ns", "1mo", "30s1m", "1m1m",
        "1ms1s", "5d1w", "1m30", "300y", "9223372036854775807s", "99999999999999999999s", "292y365d", "٣s", "1ｓ", "abc",
    ])
    func `Any other text is not a duration`(text: String) { #expect(ValueFormat.duration().parse(text) == nil) }

    @Test func `The format has a minimum duration and states it`() {
        let format = ValueFormat.duration(from: .milliseconds(10))
        #expect(format.parse("9ms") == nil)
        #expect(format.parse("10ms") == .milliseconds(10))
        let expected = "a duration such as 500ms, 30s or 1m30s, at least 10ms"
        #expect(throws: RejectedText("", expected: expected)) { try format.read("") }
    }

    @Test(arguments: [
        (0, "0s"), (1, "1ms"), (90_000, "1m30s"), (7_776_000_000, "90d"), (1_209_600_000, "2w"),
        (31_536_000_000, "1y"), (3_600_500, "1h500ms"), (-1500, "-1s500ms"),
    ])
    func `Durations are written as Prometheus writes them`(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).prometheusText == text)
    }
}

private enum Level: String, CaseIterable { case debug, info, warn }

struct ValueFormatTests {
    @Test(
        arguments: [
            ("0", 0), ("16777216", 16_777_216), ("1KiB", 1024), ("16MiB", 16 << 20), ("3GiB", 3 << 30),
            ("9223372036854775807", Int.max), ("", nil), ("KiB", nil), ("-1", nil), ("+1", nil), ("1.5MiB", nil),
            ("1 MiB", nil), ("1MB", nil), ("1kib", nil), ("1k", nil), ("0x10", nil), ("9223372036854775808", nil),
            ("9007199254740992KiB", nil),
        ] as [(String, Int?)])
    func `A size has no unit or a binary unit`(text: String, bytes: Int?) {
        #expect(ValueFormat.bytes(in: 0 ... .max).parse(text) == bytes)
    }

    @Test func `The format has a range of sizes and states it`() {
        let format = ValueFormat.bytes(in: 128...1 << 20)
        #expect(format.parse("127") == nil)
        #expect(format.parse("1MiB") == 1 << 20)
        #expect(throws: RejectedText("", expected: "a size in bytes, or with KiB, MiB or GiB, 128 to 1048576 bytes")) {
            try format.read("")
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("12", 12), ("007", 7), ("9223372036854775807", Int.max), ("", nil), ("-", nil), ("-1", nil),
            ("1.0", nil), ("1e3", nil), ("9223372036854775808", nil), ("१", nil),
        ] as [(String, Int?)])
    func `A whole number has only digits`(text: String, number: Int?) {
        #expect(ValueFormat.integer(in: 0 ... .max).parse(text) == number)
    }

    @Test func `The format has a range of numbers and states it`() {
        let format = ValueFormat.integer(in: 1...10_000)
        #expect(["0", "1", "10000", "10001"].map(format.parse) == [nil, 1, 10_000, nil])
        #expect(throws: RejectedText("", expected: "a whole number, 1 to 10000")) { try format.read("") }
    }

    @Test(
        arguments: [
            ("0", 0), ("0.6", 0.6), ("1", 1), ("1e-3", 0.001), (".5", 0.5), ("-0", 0), ("", nil), ("1.1", nil),
            ("-0.1", nil), ("nan", nil), ("inf", nil), ("0x1p-1", nil), ("1e999", nil), ("half", nil), (" 0.5", nil),
            ("0,5", nil),
        ] as [(String, Double?)])
    func `A number is decimal and in its range`(text: String, number: Double?) {
        #expect(ValueFormat.number(in: 0...1).parse(text) == number)
    }

    @Test(arguments: [("18446744073709551615", UInt64.max), ("-1", nil), ("+1", nil), ("", nil)])
    func `Seeds use all 64 bits`(text: String, seed: UInt64?) {
        #expect(ValueFormat<UInt64>.integer(in: 0 ... .max).parse(text) == seed)
    }

    @Test func `A choice ignores case and lists all options`() {
        let format = ValueFormat<Level>.choice
        #expect(format.parse("warn") == .warn)
        #expect(format.parse("Warn") == .warn)
        #expect(format.parse("wärn") == nil)
        #expect(throws: RejectedText("", expected: "debug, info or warn")) { try format.read("") }
    }

    @Test func `Values are written as a user would write them`() {
        func durations(_ seconds: Double) -> String? { ValueFormat.duration().text?(.seconds(seconds)) }
        #expect(
            [0, 0.001, 0.5, 1, 30, 60, 90, 61.5, 900, 3600, 14 * 86400].map(durations) == [
                "0", "1ms", "500ms", "1s", "30s", "1m", "1m30s", "1m1s500ms", "15m", "1h", "2w",
            ])
        #expect(
            [0, 1, 1023, 1024, 16 << 20, 1 << 30].map { ValueFormat.bytes(in: 0 ... .max).text?($0) } == [
                "0", "1", "1023", "1KiB", "16MiB", "1GiB",
            ])
        #expect([0, 0.6, 1, -5].map { ValueFormat.number(in: -9...9).text?($0) } == ["0", "0.6", "1", "-5"])
        #expect(ValueFormat<Level>.choice.text?(.warn) == "warn")
        #expect(ValueFormat<Bool>.boolean.text?(true) == "true")
    }
}
