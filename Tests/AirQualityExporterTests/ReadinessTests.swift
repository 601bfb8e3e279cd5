import TestSupport
import Testing
import WebSocket

@testable import AirQuality
@testable import AirQualityExporter

struct ReadinessTests {
    @Test func `A feed with a fresh reading is ready, and otherwise the problem is named`() {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/"], at: 0)
        var decoder = FeedDecoder(format: FeedFormat())
        func receive(_ message: String, at time: Timestamp) {
            store.record(decoder.decode(Array(message.utf8).span, receivedAt: TestStore.start + time), feed: 0)
        }
        func problem(at time: Timestamp) -> String? {
            store.snapshot(withHistories: true).readinessProblem(at: TestStore.start + time)
        }
        func cause(at time: Timestamp) -> String? {
            problem(at: time)?.split(separator: "\n").dropFirst().joined(separator: "|").replacing(
                "ws://a/: ", with: "")
        }
        _ = store.setFeed(label: "ws://a/", idleTimeout: 60_000)
        #expect(problem(at: 0) == "no fresh reading\nws://a/: not connected")
        store.apply(.disconnected("refused", detail: "connection refused"), feed: 0)
        #expect(cause(at: 0) == "not connected (connection refused)")
        store.apply(.connected(nil), feed: 0)
        #expect(cause(at: 0) == "connected, no message yet")
        receive("[]", at: 0)
        #expect(cause(at: 1000) == "1 messages without readings")
        receive(#"[{"city":"Pune","aqi":1}]"#, at: 1000)
        #expect(problem(at: 61_000) == nil)
        #expect(cause(at: 61_001) == "no message for 60 s")
        // A city with hourly readings has a pace of its own.
        receive(#"[{"city":"Pune","aqi":2}]"#, at: 3_601_000)
        #expect(problem(at: 10_000_000) == nil)
        #expect(problem(at: 20_000_000) != nil)
        store.apply(.paused, feed: 0)
        #expect(problem(at: 20_000_000) == nil)
    }

    @Test func `Each cause has a line, with an example of what came most`() {
        var test = TestStore(feeds: ["ws://a/", "ws://b/"])
        test.store.apply(.connected(nil), feed: 0)
        test.receive(#"{"type":"hello"}"#)
        test.receive(#"[{"place":"Pune","aqi":1}]"#)
        for value in ["x", "y"] { test.receive(#"[{"name":"Pune","aqi":"\#(value)"}]"#) }
        test.receive(#"[{"city":"Pune","aqi":"high"}]"#)
        test.receive("no JSON")
        let problem = test.store.snapshot(withHistories: true).readinessProblem(at: TestStore.start)
        #expect(
            problem == """
                no fresh reading
                ws://a/: rejected: 4 × no_city value="x" members="name,aqi"; try: air-quality-exporter probe ADDRESS
                ws://a/: rejected: 1 × not_json; try: air-quality-exporter probe ADDRESS
                ws://a/: rejected: 1 × bad_value value="high" members="city,aqi"; try: air-quality-exporter probe ADDRESS
                ws://b/: not connected
                """)
    }

    @Test(
        arguments: [
            (#"[{"city":"A","aqi":"\u001b[2J\n"}]"#, #"value="\u{1B}[2J\n""#),
            (#"[{"\u001b]0;x\u0007":1}]"#, #"members="\u{1B}]0;x\u{7}""#),
        ])
    func `No text of a feed breaks a line or steers a terminal`(message: String, shown: String) {
        var test = TestStore()
        test.store.apply(.connected(nil), feed: 0)
        test.receive(message)
        let problem = test.store.snapshot(withHistories: true).readinessProblem(at: TestStore.start) ?? ""
        #expect(problem.contains(shown) && problem.split(separator: "\n").count == 2)
    }

    @Test func `What the server says when it closes is not shown`() {
        let test = TestStore()
        let event = WebSocketEvent.disconnected(.closed, detail: "status 1008", serverWords: "token s3cret expired")
        test.store.apply(FeedEvent(event), feed: 0)
        let problem = test.store.snapshot(withHistories: true).readinessProblem(at: TestStore.start) ?? ""
        #expect(problem.hasSuffix("not connected (status 1008)"))
    }

    @Test func `A feed without an idle time-out whose cities have expired is not called silent`() {
        var test = TestStore(expireAfter: 1000)
        _ = test.store.setFeed(label: test.store.feeds[0].label, idleTimeout: 0)
        test.store.apply(.connected(nil), feed: 0)
        test.receive(#"{"city":"Pune","aqi":1}"#)
        #expect(test.store.expire(at: TestStore.start + 1001) == 1)
        let problem = test.store.snapshot(withHistories: true).readinessProblem(at: TestStore.start + 1001)
        #expect(problem?.hasSuffix("messages without a new reading") == true)
    }

    @Test func `A feed that repeats its only reading is ready`() {
        let start: Timestamp = 1_700_000_000_000
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: start)
        _ = store.setFeed(label: "ws://a/", idleTimeout: 60_000)
        store.apply(.connected(nil), feed: 0)
        var decoder = FeedDecoder(format: FeedFormat(timeField: "t"))
        for minute in 0...10 as ClosedRange<Timestamp> {
            let message = Array(#"[{"city":"Pune","aqi":1,"t":\#(start)}]"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: start + minute * 60_000), feed: 0)
        }
        #expect(store.snapshot(withHistories: true).readinessProblem(at: start + 650_000) == nil)
        store.record(decoder.decode(Array("[]".utf8).span, receivedAt: start + 650_000), feed: 0)
        #expect(store.snapshot(withHistories: true).readinessProblem(at: start + 700_000) != nil)
    }
}
