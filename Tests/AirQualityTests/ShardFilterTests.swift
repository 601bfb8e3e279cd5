import Bytes
import JSON
import Testing

@testable import AirQuality

@Suite("Elements of other shards' cities")
struct ShardFilterTests {
    private static let shard = Shard(index: 0, count: 2)
    private static let (own, other) = {
        let names = (0..<10).map { "Nāgpur \($0)" }
        let isOwn = { (name: String) in shard.contains(Array(name.utf8).span) }
        return (names.first(where: isOwn)!, names.first { !isOwn($0) }!)
    }()
    private static let plain = (0..<10).map { "Nagpur \($0)" }.first { !shard.contains(Array($0.utf8).span) }!
    private static let fog = (0..<10).map { "Fog 🌫 \($0)" }.first { !shard.contains(Array($0.utf8).span) }!

    /// `OWN` and `OTHER` stand for names, `OW~N` and `OTH~ER` for the same with escapes.
    private static func bytes(_ text: String) -> [UInt8] {
        var text = text
        for (word, name) in [
            ("OWN", own), ("OTHER", other), ("OW~N", own.replacing("ā", with: #"\u0101"#)),
            ("OTH~ER", other.replacing("ā", with: #"\u0101"#)),
            ("BLANKS", String(repeating: " ", count: CityName.maximumCount)), ("PLAIN", plain), ("FOG", fog),
            ("F~OG", fog.replacing("🌫", with: #"\ud83c\uDF2B"#)),
        ] {
            text = text.replacing(word, with: name)
        }
        return Array(text.utf8)
    }

    @Test(
        "are taken out of the message, and nothing else",
        arguments: [
            ("[]", "[]", 0), (" [ ] ", "[]", 0),
            (#"[{"city":"OTHER","aqi":1}]"#, "[]", 1), (#"{"city":"OTHER","aqi":1}"#, "[]", 1),
            (#" { "city" : "OTHER" } "#, "[]", 1),
            (#"[{"city":"OWN","aqi":1}]"#, #"[{"city":"OWN","aqi":1}]"#, 0),
            (
                #"[{"city":"OTHER"},{"city":"OWN","aqi":1},{"city":"OTHER"},{"city":"OTHER"},{"city":"OWN","aqi":2}]"#,
                #"[{"city":"OWN","aqi":1},{"city":"OWN","aqi":2}]"#, 3
            ),
            // What stands between elements that are kept stays.
            (
                "[\n{\"city\":\"OWN\"} ,\t{\"city\":\"OWN\"}, {\"city\":\"OTHER\"} , {\"city\":\"OWN\"} ]\r\n",
                "[{\"city\":\"OWN\"} ,\t{\"city\":\"OWN\"},{\"city\":\"OWN\"}]", 1
            ),
            // Whatever else is in the element.
            (
                #"[{"aqi":-0.5e-10,"time":12345.5,"basis":"24h","city":"OTHER","x":[true,false,null,[],{},""]}]"#, "[]",
                1
            ),
            (#"[{"Straße":"ö","city":"OTHER","x":{"y":[{"é":"\"\\\/\b\f\n\r\t\u0041"}]}}]"#, "[]", 1),
            // Of a member that is given twice the last one counts.
            (#"[{"city":"OWN","city":"OTHER"}]"#, "[]", 1), (#"[{"city":7,"city":"OTHER"}]"#, "[]", 1),
            (#"[{"city":"OTHER","city":"OWN"}]"#, #"[{"city":"OTHER","city":"OWN"}]"#, 0),
            (#"[{"city":"OTHER","city":7}]"#, #"[{"city":"OTHER","city":7}]"#, 0),
            // Names in every spelling.
            (#"[{"city":" OTHER\t"},{"city":"OTH~ER "},{"city":"\u0020OTHER"}]"#, "[]", 3),
            (#"[{"city":"OW~N"},{"city":"\nOWN"}]"#, #"[{"city":"OW~N"},{"city":"\nOWN"}]"#, 0),
            (
                #"[{"city":"BLANKSPLAIN"},{"city":"PLAINBLANKS"},{"city":"BLANKSOTHER"},{"city":"BLANKSOTH~ER"}]"#,
                "[]", 4
            ),
            (#"[{"city":"FOG"},{"city":"F~OG"},{"city":"F~OG"}]"#, "[]", 3),
            (#"[{"city":"OTHER","x":"\ud83d\ude00"}]"#, "[]", 1),
            // What is nobody's is refused by every shard.
            (#"[{"city":""},{"city":" "},{"city":"a\u0000b"},{"city":null},{}]"#, nil, 0),
            (#"[{"aqi":1},[],"OTHER",7,null,true,{"city":["OTHER"]},{"name":"OTHER"}]"#, nil, 0),
            (#"[{"city":"\#(String(repeating: "a", count: 129))"}]"#, nil, 0),
        ] as [(String, String?, Int)])
    func takenOut(_ message: String, _ rest: String?, _ count: Int) {
        var filter = ShardFilter(shard: Self.shard, cityField: "city")
        // The second time with what the first one left.
        for _ in 0..<2 {
            let isFiltered = filter.apply(to: Self.bytes(message).span)
            #expect(isFiltered)
            let expected = String(decoding: Self.bytes(rest ?? message), as: UTF8.self)
            #expect(String(decoding: filter.rest, as: UTF8.self) == expected)
            #expect(filter.skippedCount == count)
        }
    }

    @Test(
        "stay where the message is not plainly good",
        arguments: [
            "", " ", "7", "null", "\"", "[", "]", "{", "}", "[[", "{}", #"{"city":"OWN"}"#,
            #"[{"city":"OTHER"},]"#, #"[,{"city":"OTHER"}]"#, #"[{"city":"OTHER"}{"city":"OTHER"}]"#,
            #"[{"city":"OTHER"} "#, #"[{"city":"OTHER"}]]"#, #"[{"city":"OTHER"}] x"#, #"[{"city":"OTHER"}},"#,
            #"[{"city":"OTHER",}]"#, #"[{"city" "OTHER"}]"#, #"[{"city":"OTHER" "aqi":1}]"#, #"[{city:"OTHER"}]"#,
            #"[{"city":"OTHER]"#, #"[{"city":"OTHER","aqi":}]"#, #"[{"city":"OTHER","aqi"}]"#, #"{"city":"OTHER"},"#,
            #"[{"city":"OTHER","aqi":01}]"#, #"[{"city":"OTHER","aqi":1.}]"#, #"[{"city":"OTHER","aqi":.5}]"#,
            #"[{"city":"OTHER","aqi":+1}]"#, #"[{"city":"OTHER","aqi":-}]"#, #"[{"city":"OTHER","aqi":1e}]"#,
            #"[{"city":"OTHER","aqi":1e999}]"#, #"[{"city":"OTHER","aqi":1x}]"#,
            #"[{"city":"OTHER","aqi":123456789012345678901234567890}]"#, #"[{"city":"OTHER","aqi":NaN}]"#,
            #"[{"city":"OTHER","aqi":nul}]"#, #"[{"city":"OTHER","aqi":nullx}]"#, #"[{"city":"OTHER","aqi":[1,]}]"#,
            #"[{"city":"OTHER","aqi":{"a":1,}}]"#, #"[{"city":"OTHER","aqi":{"a"}}]"#,
            #"[{"city":"OTHER","aqi":[1 2]}]"#,
            #"[{"city":"OTHER","x":"\x"}]"#, #"[{"city":"OTHER","x":"\u12"}]"#, #"[{"city":"OTHER","x":"\u12g4"}]"#,
            #"[{"city":"OTHER","x":"\ud83d"}]"#, #"[{"city":"OTHER","x":"\udc00"}]"#,
            #"[{"city":"OTHER","x":"\udc00\ud83d"}]"#, #"[{"city":"OTHER","x":"\ud83d\ud83d"}]"#,
            #"[{"city":"OTHER","x":"\ud83dxude00"}]"#, #"[{"city":"OTHER","x":"\ud83d\ude0"}]"#,
            #"[{"city":"\ud83d"}]"#, "[{\"city\":\"\\u0041\(String(repeating: "a", count: 1024))\"}]",
            #"[{"c\u0069ty":"OTHER"}]"#, "[{\"city\":\"OTHER\",\"x\":\"\n\"}]", "[{\"city\":\"OTHER\u{1}\"}]",
            "[{\"city\":\"OTHER\"}\u{A0}]", #"[{"city":"OTHER","x":[[[[[[[[1]]]]]]]]}]"#, #"[{"city":"OTHER"},tru"#,
        ])
    func kept(_ message: String) {
        var filter = ShardFilter(shard: Self.shard, cityField: "city")
        let isFiltered = filter.apply(to: Self.bytes(message).span)
        #expect(!isFiltered)
    }

    @Test(
        "stay in a message that is no UTF-8",
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func badUTF8(_ bytes: [UInt8]) {
        for (before, after) in [
            (#"[{"city":"OTHER","x":""#, #""}]"#), (#"[{"city":"OTHER"#, #""}]"#), (#"[{"city":"OTHER"}"#, "]"),
        ] {
            var filter = ShardFilter(shard: Self.shard, cityField: "city")
            let isFiltered = filter.apply(to: (Self.bytes(before) + bytes + Self.bytes(after)).span)
            #expect(!isFiltered)
        }
    }

    @Test("are known by the member that the feed's cities are in", arguments: ["city", "Stadtname", "Straße", #"a"b"#])
    func cityField(_ field: String) {
        let shards = (0..<2).map { index -> (cities: Int, skipped: UInt64?) in
            let shard = Shard(index: index, count: 2)
            var test = TestStore(format: FeedFormat(cityField: field, shard: shard))
            let elements = (0..<100).map { #"{"\#(field.replacing("\"", with: #"\""#))": "City \#($0)", "aqi": 1}"# }
            test.receive("[" + elements.joined(separator: ", ") + "]")
            return (test.cities.count, test.store.feeds[0].skipped)
        }
        #expect(shards[0].cities + shards[1].cities == 100)
        for shard in shards { #expect(shard.skipped == UInt64(100 - shard.cities)) }
    }

    @Test("are counted, and a message that is refused counts none")
    func counts() {
        var test = TestStore(format: FeedFormat(shard: Self.shard))
        #expect(test.store.feeds[0].skipped == 0)
        for (message, skipped) in [
            (#"[{"city":"OTHER","aqi":"rubbish"},{"city":"OWN","aqi":2}]"#, 1),
            (#"[{"city":"OTHER"},{"city":"OWN",}]"#, 1), (#"[{"city":"OTHER"},{"c\u0069ty":"OTHER","aqi":1}]"#, 3),
            (#"{"city":"OTHER"}"#, 4), (#"["OTHER"]"#, 4),
        ] {
            test.receive(Self.bytes(message))
            #expect(test.store.feeds[0].skipped == UInt64(skipped))
        }
        #expect(test.refusals == ["not_json": 1, "not_an_object": 1])
        #expect(test.store.feeds[0].readings == 1)
        let items = FeedFormat(items: JSONPointer("/data")!, shard: Self.shard)
        test = TestStore(format: items)
        test.receive(Self.bytes(#"{"data":[{"city":"OTHER","aqi":1},{"city":"OWN","aqi":2}]}"#))
        #expect(test.store.feeds[0].skipped == 1 && test.cities.count == 1)
        #expect(TestStore().store.feeds[0].skipped == nil)
    }
}
