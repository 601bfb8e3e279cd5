import Testing

@testable import AirSources

struct TextTests {
    @Test func `Indian times are read`() {
        #expect(epochSeconds(indian: "22-07-2026 00:30:00") == 1_784_660_400)
        #expect(epochSeconds(indian: "01-01-1970 05:30:00") == 0)
    }

    @Test(arguments: [
        "", "2026-07-21 19:00:00", "21-07-2026", "21-07-2026 19:00", "32-07-2026 19:00:00", "29-02-2026 19:00:00",
        "21-13-2026 19:00:00", "21-07-2026 24:00:00", "21-07-2026 19:60:00", "21-07-2026T19:00:00",
        "+1-07-2026 19:00:00", "NA",
    ])
    func `What is no Indian time is none`(text: String) {
        #expect(epochSeconds(indian: text) == nil)
    }

    @Test func `Times are written and read`() {
        #expect(rfc3339(1_784_660_400) == "2026-07-21T19:00:00.000Z")
        #expect(epochSeconds("2024-01-15T12:00:00+08:00") == 1_705_291_200)
        #expect(epochSeconds("2024-01-15T12:00") == nil)
    }

    @Test func `Degrees have four decimals at most`() {
        #expect(degrees(28.61389) == "28.6139")
        #expect(degrees(-0.12574) == "-0.1257")
        #expect(degrees(0.00995) == "0.01")
        #expect(degrees(180) == "180.0")
    }

    @Test func `The way between two places is in kilometres`() {
        #expect(kilometers(28.6139, 77.2090, 19.0760, 72.8777).map { Int($0) } == 1148)
        #expect(kilometers(10, 20, 10, 20) == 0)
    }

    @Test(arguments: [
        ("Invalid key", SourceError.refused("Invalid key")), ("api_key is wrong", .refused("api_key is wrong")),
        ("Unauthorized", .refused("Unauthorized")), ("no data for Turkey", .failed("no data for Turkey")),
        ("no station of the authority in Keylong", .failed("no station of the authority in Keylong")),
        ("Over quota", .busy("Over quota")),
    ])
    func `What a source says is told apart by its words`(text: String, error: SourceError) {
        #expect(SourceError(vendorMessage: text) == error)
    }

    @Test func `A source's explanation is one line`() {
        #expect(explanation(in: Array(#"{"error":true,"reason":"Value of\n type"}"#.utf8)) == "Value of  type")
        #expect(explanation(in: Array(#"{"error":"Key not authorised"}"#.utf8)) == "Key not authorised")
        #expect(explanation(in: Array(#"{"status":"error","data":"Invalid key"}"#.utf8)) == "Invalid key")
        #expect(explanation(in: Array(#"{"detail":[{"loc":["query"]}]}"#.utf8)) == nil)
        #expect(explanation(in: Array("<html>".utf8)) == nil)
    }

    @Test(arguments: [
        ("no a&b!c here", "no *** here"), ("a%26b%21c", "***"), ("x=%61%26b!c&y", "x=***&y"), ("a&b!", "a&b!"),
        ("A&b!c", "A&b!c"), ("%a&b!c%2", "%***%2"), ("", ""),
    ])
    func `A key is masked however its bytes are written`(text: String, shown: String) {
        #expect(masked(text, key: "a&b!c") == shown)
        #expect(masked(text, key: nil) == text)
    }

    @Test func `What a source says comes on one line and cannot steer a terminal`() {
        let document = #"{"error":true,"reason":"a\u009b31m\u202e\u2066b\r\nc"}"#
        #expect(explanation(in: Array(document.utf8)) == "a 31m  b  c")
    }
}
