import Testing

@testable import Bytes

struct DatesTests {
    @Test func `Dates and day numbers agree for every day of the years -400 to 3969`() throws {
        var date = try #require(CivilDate(year: -400, month: 1, day: 1))
        for days in date.daysSinceEpoch..<730_485 {
            #expect(date.daysSinceEpoch == days)
            #expect(CivilDate(daysSinceEpoch: days) == date)
            date =
                CivilDate(year: date.year, month: date.month, day: date.day + 1) ?? CivilDate(
                    year: date.year, month: date.month + 1, day: 1) ?? CivilDate(year: date.year + 1, month: 1, day: 1)!
        }
        #expect(date == CivilDate(year: 3970, month: 1, day: 1))
    }

    @Test(
        arguments: [
            (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32), (2026, 4, 31), (2025, 2, 29), (1900, 2, 29),
            (2000, 2, 30),
        ])
    func `An invalid date is rejected`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (12_345, "1970-01-01T00:00:12.345Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_795_236_585_252, "2026-11-21T04:49:45.252Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `A time is formatted as RFC 3339 and parsed back`(time: Int64, text: String) {
        var written: [UInt8] = []
        written.appendRFC3339(time)
        #expect(String(decoding: written, as: UTF8.self) == text)
        #expect(parseRFC3339(written.span) == time)
    }

    @Test(arguments: [(Int64.min, "0000-01-01T00:00:00.000Z"), (1 << 50, "9999-12-31T23:59:59.999Z")])
    func `A time outside the years 0 to 9999 is clamped when it is formatted`(time: Int64, text: String) {
        var written: [UInt8] = []
        written.appendRFC3339(time)
        #expect(String(decoding: written, as: UTF8.self) == text)
    }

    @Test(
        arguments: [
            ("2026-11-21T04:49:45Z", 1_795_236_585_000), ("2026-11-21t04:49:45z", 1_795_236_585_000),
            ("2026-11-21 04:49:45.2524Z", 1_795_236_585_252), ("2026-11-20T23:19:45-05:30", 1_795_236_585_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ] as [(String, Int64)])
    func `Variants of RFC 3339 times are parsed`(text: String, time: Int64) {
        #expect(parseRFC3339(Array(text.utf8).span) == time)
    }

    @Test(
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T04:49Z", "2026-11-21T04:49:45", "2026-13-21T04:49:45Z",
            "2026-11-31T04:49:45Z", "2025-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T04:60:00Z",
            "2026-11-21T04:49:61Z", "2026-11-21T04:49:45.Z", "2026-11-21T04:49:45+0530", "2026-11-21T04:49:45Z ",
            "+026-11-21T04:49:45Z", "2026-11-21T04:49:45+24:00",
        ])
    func `A text that is not an RFC 3339 time is rejected`(text: String) {
        #expect(parseRFC3339(Array(text.utf8).span) == nil)
    }
}
