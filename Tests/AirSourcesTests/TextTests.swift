import Testing

@testable import AirSources

struct TextTests {
    @Test(arguments: [
        ("1970-01-01T00:00Z", 0), ("2026-07-21T19:00:00Z", 1_784_660_400), ("2026-07-21T19:00:00.123Z", 1_784_660_400),
        ("2026-07-22T00:30:00+05:30", 1_784_660_400), ("2026-07-21 12:00:00-07:00", 1_784_660_400),
        ("2024-02-29T00:00Z", 1_709_164_800), ("2024-01-15T12:00:00+08:00", 1_705_291_200),
    ])
    func `Times with a zone`(text: String, seconds: Int64) {
        #expect(epochSeconds(iso: text) == seconds)
        #expect(epochSeconds(iso: text, zone: 3600) == seconds)
    }

    @Test func `Times without a zone are of the one that is given`() {
        #expect(epochSeconds(iso: "2026-07-21T19:00") == nil)
        #expect(epochSeconds(iso: "2026-07-21T19:00", zone: 0) == 1_784_660_400)
        #expect(epochSeconds(iso: "2026-07-22T00:30", zone: 19_800) == 1_784_660_400)
        #expect(epochSeconds(indian: "22-07-2026 00:30:00") == 1_784_660_400)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01T00:00Z", "2026-02-29T00:00Z", "2026-04-31T00:00Z", "2026-00-10T00:00Z",
        "2026-01-00T00:00Z", "2026-01-01T24:00Z", "2026-01-01T00:60Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00z",
        "2026-01-01T00:00Z ", " 2026-01-01T00:00Z", "26-01-01T00:00Z", "2026-01-01T00:00.5Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00+5:30", "2026-01-01T00:00+24:00", "+026-01-01T00:00Z", "2026-01-01T00:00+05:30:00",
    ])
    func `What is no time`(text: String) {
        #expect(epochSeconds(iso: text) == nil)
    }

    @Test(arguments: ["", "2026-07-21 19:00:00", "21-07-2026", "21-07-2026 19:00", "32-07-2026 19:00:00", "NA"])
    func `What is no Indian time`(text: String) {
        #expect(epochSeconds(indian: text) == nil)
    }

    @Test func `A time can be written and read again`() {
        for seconds in stride(from: Int64(0), to: 4_000_000_000, by: 12_345_677) {
            #expect(epochSeconds(iso: isoText(seconds)) == seconds)
        }
        #expect(isoText(1_784_660_400) == "2026-07-21T19:00:00Z")
    }

    @Test func `Degrees have four decimals`() {
        #expect(degrees(28.61389) == "28.6139")
        #expect(degrees(-0.12574) == "-0.1257")
        #expect(degrees(-0.00001) == "0.0000")
        #expect(degrees(0.00995) == "0.0100")
        #expect(degrees(180) == "180.0000")
    }

    @Test func `Keys and names do not break an address`() {
        #expect(percentEncoded("a-Z0.9_~") == "a-Z0.9_~")
        #expect(percentEncoded("a b&c=d/\u{FC}\n") == "a%20b%26c%3Dd%2F%C3%BC%0A")
        #expect(percentEncoded("@1437/x", keeping: "@/") == "@1437/x")
    }

    @Test func `The way between two places`() {
        #expect(Int(kilometers(28.6139, 77.2090, 19.0760, 72.8777)) == 1148)
        #expect(kilometers(10, 20, 10, 20) == 0)
    }

    @Test func `A source's explanation is one line`() {
        #expect(explanation(in: Array(#"{"error":true,"reason":"Value of\n type"}"#.utf8)) == "Value of  type")
        #expect(explanation(in: Array(#"{"error":"Key not authorised"}"#.utf8)) == "Key not authorised")
        #expect(explanation(in: Array(#"{"status":"error","data":"Invalid key"}"#.utf8)) == "Invalid key")
        #expect(explanation(in: Array(#"{"detail":[{"loc":["query"]}]}"#.utf8)) == nil)
        #expect(explanation(in: Array("<html>".utf8)) == nil)
    }
}
