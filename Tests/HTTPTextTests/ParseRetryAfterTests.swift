import Testing

@testable import HTTPText

@Suite struct ParseRetryAfterTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil),
            ("Sun, 31 Jun 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("", nil),
        ] as [(String, Int64?)])
    func `An HTTP date is parsed only in the form that servers must send`(text: String, seconds: Int64?) {
        #expect(parseHTTPDate(text) == seconds.map { $0 * 1000 })
    }

    @Test(
        arguments: [
            ("0", .zero), ("120", .seconds(120)), ("999999999", .seconds(999_999_999)), ("1000000000", nil),
            ("-1", nil), ("1.5", nil), ("", nil), ("Thu, 01 Jan 1970 00:01:00 GMT", .seconds(59)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", .zero),
        ] as [(String, Duration?)])
    func `Retry-After is parsed as seconds or as an HTTP date`(text: String, wait: Duration?) {
        #expect(parseRetryAfter(text, now: 1000) == wait)
    }
}
