import Testing

@testable import AirSources

struct TimesTests {
    @Test func `Indian times are parsed`() {
        #expect(epochSeconds(indian: "22-07-2026 00:30:00") == 1_784_660_400)
        #expect(epochSeconds(indian: "01-01-1970 05:30:00") == 0)
    }

    @Test(arguments: [
        "", "2026-07-21 19:00:00", "21-07-2026", "21-07-2026 19:00", "32-07-2026 19:00:00", "29-02-2026 19:00:00",
        "21-13-2026 19:00:00", "21-07-2026 24:00:00", "21-07-2026 19:60:00", "21-07-2026T19:00:00",
        "+1-07-2026 19:00:00", "NA",
    ])
    func `A text that is not an Indian time is rejected`(text: String) {
        #expect(epochSeconds(indian: text) == nil)
    }

    @Test func `Times are formatted and parsed, with an optional zone`() {
        #expect(rfc3339(1_784_660_400) == "2026-07-21T19:00:00.000Z")
        #expect(epochSeconds("2024-01-15T12:00:00+08:00") == 1_705_291_200)
        #expect(epochSeconds("2024-01-15T12:00") == nil)
        #expect(epochSeconds(" 2024-01-15T12:00:00Z ") == 1_705_320_000)
        #expect(epochSeconds("2024-01-15 12:00:00") == nil)
        #expect(epochSeconds("2024-01-15 12:00:00", zone: "+08:00") == 1_705_291_200)
        #expect(epochSeconds("2024-01-15T12:00:00Z", zone: "+08:00") == 1_705_320_000)
        #expect(epochSeconds("2024-01-15 12:00:00", zone: "") == nil)
    }

    @Test func `Degrees have at most four decimals`() {
        #expect(degrees(28.61389) == "28.6139")
        #expect(degrees(-0.12574) == "-0.1257")
        #expect(degrees(0.00995) == "0.01")
        #expect(degrees(180) == "180.0")
    }

    @Test(arguments: [
        ("Invalid key", SourceError.refused("Invalid key")), ("api_key is wrong", .refused("api_key is wrong")),
        ("Unauthorized", .refused("Unauthorized")), ("no data for Turkey", .failed("no data for Turkey")),
        ("no station of the authority in Keylong", .failed("no station of the authority in Keylong")),
        ("Over quota", .busy("Over quota")),
    ])
    func `A source's message is classified by its words`(text: String, error: SourceError) {
        #expect(SourceError(vendorMessage: text) == error)
    }

    @Test(
        arguments: [
            (#"{"error":true,"reason":"Value of\n type"}"#, "Value of  type"),
            (#"{"error":"Key not authorised"}"#, "Key not authorised"),
            (#"{"status":"error","data":"Invalid key"}"#, "Invalid key"), (#"{"detail":[{"loc":["query"]}]}"#, nil),
            (#"{"detail":[{"loc":["query"],"msg":"too large"}]}"#, "too large"),
            (#"{"error":{"code":7,"message":"Quota exceeded"}}"#, "Quota exceeded"),
            (#""Unauthorized""#, "Unauthorized"), (#"{"message":7,"data":[]}"#, nil), ("<html>", nil),
            (String(repeating: #"{"error":"#, count: 100) + #""x""# + String(repeating: "}", count: 100), "x"),
            (#"{"error":true,"reason":"a\u009b31m\u202e\u2066b\r\nc"}"#, "a 31m  b  c"),
        ] as [(String, String?)])
    func `A source's explanation is one line that is safe for a terminal`(document: String, text: String?) {
        #expect(explanation(in: Array(document.utf8)) == text)
    }
}
