import AirQuality
import Bytes
import Testing

@testable import AirQualityFeed

@Suite("A splitter of feeds") struct FeedSplitterTests {
    /// With what each shard gets, as text.
    private enum Found: Equatable {
        case parts([Int: String])
        case refused(RefusalReason)
    }

    private func split(_ text: String, with splitter: inout FeedSplitter) -> Found {
        switch splitter.split(Array(text.utf8).span) {
        case .refused(let refusal): return .refused(refusal)
        case .parts(let parts):
            #expect(parts.map(\.shard) == parts.map(\.shard).sorted())
            return .parts(
                Dictionary(uniqueKeysWithValues: parts.map { ($0.shard, String(decoding: $0.message, as: UTF8.self)) }))
        }
    }

    private func everything(_ shard: Int?, _ splitter: borrowing FeedSplitter) -> [String] {
        splitter.everything(of: shard).map { String(decoding: $0, as: UTF8.self) }
    }

    private func shard(_ city: String, of count: Int) -> Int {
        let name = Array(city.utf8)
        return Shard(of: name.span, count: count).index
    }

    @Test("gives each shard its cities, in their order, as they came") func parts() {
        var splitter = FeedSplitter(shards: 4, cityField: "city")
        // Of docker/README.md: Delhi is in shard 2 of 4, Mumbai and Zürich in 1, Kolkata in 0.
        #expect(["Delhi", "Mumbai", "Zürich", "Kolkata"].map { shard($0, of: 4) } == [2, 1, 1, 0])
        let text = #"""
            [ {"city" : "Delhi","aqi":1.50},{"aqi":2,"city":"Mumbai","x":[{}]} ,
            {"city":"Z\u00fcrich","aqi":"3"},{"city":"  Kolkata\t","aqi":4}, {"city":"Delhi","aqi":5e0}]
            """#
        #expect(
            split(text, with: &splitter)
                == .parts([
                    0: #"[{"city":"  Kolkata\t","aqi":4}]"#,
                    1: #"[{"aqi":2,"city":"Mumbai","x":[{}]},{"city":"Z\u00fcrich","aqi":"3"}]"#,
                    2: #"[{"city" : "Delhi","aqi":1.50},{"city":"Delhi","aqi":5e0}]"#,
                ]))
        #expect(everything(2, splitter) == [#"[{"city":"Delhi","aqi":5e0}]"#])
        #expect(everything(3, splitter) == [])
        #expect(
            everything(nil, splitter) == [
                #"[{"city":"  Kolkata\t","aqi":4},{"aqi":2,"city":"Mumbai","x":[{}]},{"city":"Z\u00fcrich","aqi":"3"},"#
                    + #"{"city":"Delhi","aqi":5e0}]"#
            ])
    }

    @Test("gives what has no city to shard 0, and keeps nothing of it") func noCity() {
        var splitter = FeedSplitter(shards: 3, cityField: "city")
        let elements = #"1,{},{"city":null},{"city":5},{"city":"","aqi":1},{"city":"a\u0000"},[]"#
        #expect(split("[\(elements)]", with: &splitter) == .parts([0: "[\(elements)]"]))
        #expect(everything(nil, splitter) == [])
    }

    @Test("takes one object for an array of one, and passes on nothing of an empty one") func shapes() {
        var splitter = FeedSplitter(shards: 1, cityField: "name")
        #expect(split(#" {"name":"A"} "#, with: &splitter) == .parts([0: #"[{"name":"A"}]"#]))
        #expect(split("[]", with: &splitter) == .parts([:]))
        #expect(everything(0, splitter) == [#"[{"name":"A"}]"#])
    }

    @Test(
        "refuses what is no array",
        arguments: [
            ("", .notJSON), ("[", .notJSON), (#"[{"city":"A"}"#, .notJSON), ("5", .notAnArray), (#""[]""#, .notAnArray),
            ("null", .notAnArray),
        ] as [(String, RefusalReason)])
    func refusals(text: String, refusal: RefusalReason) {
        var splitter = FeedSplitter(shards: 2, cityField: "city")
        #expect(split(text, with: &splitter) == .refused(refusal))
    }

    @Test("divides any number of cities without a loss, into messages that are not too long") func whole() {
        let elements = (0..<40_000).map { #"{"city":"City \#($0)","aqi":\#($0 % 500)}"# }
        var splitter = FeedSplitter(shards: 16, cityField: "city")
        let message = Array(("[" + elements.joined(separator: ",") + "]").utf8)
        guard case .parts(let parts) = splitter.split(message.span) else {
            Issue.record("refused")
            return
        }
        #expect(parts.count == 16)
        var expected: [Int: [String]] = [:]
        for (number, element) in elements.enumerated() {
            expected[shard("City \(number)", of: 16), default: []].append(element)
        }
        for part in parts {
            let text = String(decoding: part.message, as: UTF8.self)
            #expect(text == "[" + (expected[part.shard] ?? []).joined(separator: ",") + "]")
            #expect(everything(part.shard, splitter) == [text])
        }
        let all = splitter.everything(of: nil)
        #expect(all.count == 2)
        #expect(all.allSatisfy { $0.count <= FeedSplitter.greetingBytes + 1 })
        let text = all.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) }.joined(separator: ",")
        #expect(text.utf8.count == elements.joined(separator: ",").utf8.count)
    }

    @Test("keeps no more than it may, and never an old element for a new one") func bounded() {
        // Room for two short elements.
        var splitter = FeedSplitter(shards: 1, cityField: "city", maximumKnownBytes: 300)
        #expect(split(#"[{"city":"A"},{"city":"B"},{"city":"C"}]"#, with: &splitter) != .parts([:]))
        let isFull = splitter.isFull
        #expect(isFull)
        #expect(everything(0, splitter) == [#"[{"city":"A"},{"city":"B"}]"#])
        let long = #"{"city":"A","x":"\#(String(repeating: "x", count: 300))"}"#
        #expect(split("[\(long)]", with: &splitter) == .parts([0: "[\(long)]"]))
        #expect(everything(0, splitter) == [#"[{"city":"B"}]"#])
        _ = split(#"[{"city":"A","aqi":1}]"#, with: &splitter)
        #expect(everything(0, splitter) == [#"[{"city":"A","aqi":1},{"city":"B"}]"#])
    }

    @Test(
        "keeps the last element with a value when one without follows, as an exporter keeps the value",
        arguments: [
            #"{"city":"A"}"#, #"{"city":"A","aqi":null}"#, #"{"city":"A","aqi":"NA"}"#, #"{"city":"A","aqi":-1}"#,
            #"{"city":"A","aqi":10000}"#, #"{"city":"A","aqi":true}"#, #"{"city":"A","aqi":{}}"#,
        ])
    func withoutValue(_ element: String) {
        var splitter = FeedSplitter(shards: 1, cityField: "city")
        func split(_ element: String, at seconds: Int) -> FeedSplitter.Outcome {
            splitter.split(Array("[\(element)]".utf8).span, at: .seconds(seconds))
        }
        let passed = FeedSplitter.Outcome.parts([.init(shard: 0, message: Array("[\(element)]".utf8))])
        #expect(split(element, at: 1) == passed)
        #expect(everything(0, splitter) == ["[\(element)]"], "it is all that is known")
        let good = #"{"aqi":"7","city":"A"}"#
        _ = split(good, at: 2)
        #expect(split(element, at: 3) == passed)
        #expect(everything(0, splitter) == ["[\(good)]"])
        // Exporters have not heard of the city since.
        splitter.forget(namedBefore: .seconds(3))
        #expect(everything(0, splitter) == [])
    }

    @Test("looks for values in the member that it is told") func valueField() {
        var splitter = FeedSplitter(shards: 1, cityField: "city", valueField: "index")
        _ = split(#"[{"city":"A","index":7},{"city":"A","aqi":8}]"#, with: &splitter)
        #expect(everything(0, splitter) == [#"[{"city":"A","index":7}]"#])
    }

    @Test("forgets cities that were not named for long, and has room for others then") func forget() {
        var splitter = FeedSplitter(shards: 1, cityField: "city", maximumKnownBytes: 300)
        _ = splitter.split(Array(#"[{"city":"A"},{"city":"B"}]"#.utf8).span, at: .seconds(1))
        _ = splitter.split(Array(#"[{"city":"A","aqi":1}]"#.utf8).span, at: .seconds(2))
        splitter.forget(namedBefore: .seconds(1))
        #expect(everything(0, splitter) == [#"[{"city":"A","aqi":1},{"city":"B"}]"#])
        splitter.forget(namedBefore: .seconds(2))
        #expect(everything(0, splitter) == [#"[{"city":"A","aqi":1}]"#])
        _ = splitter.split(Array(#"[{"city":"C"},{"city":"A","aqi":2}]"#.utf8).span, at: .seconds(3))
        #expect(everything(0, splitter) == [#"[{"city":"A","aqi":2},{"city":"C"}]"#])
        splitter.forget(namedBefore: .seconds(4))
        #expect(everything(nil, splitter) == [])
        _ = splitter.split(Array(#"[{"city":"D"},{"city":"E"}]"#.utf8).span, at: .seconds(5))
        #expect(everything(0, splitter) == [#"[{"city":"D"},{"city":"E"}]"#])
    }
}
