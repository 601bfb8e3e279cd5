import Bytes
import System
import Testing

@testable import AirQuality
@testable import AirQualityExporter
@testable import WebSocket

@Suite("A feed")
struct FeedTests {
    @Test("is logged when its state changes, not at every attempt")
    func log() {
        var log = FeedLog(label: "ws://x/")
        func level(_ event: FeedEvent) -> String {
            log.entry(for: event).map { "\($0.level) \($0.message)" } ?? "-"
        }
        func lost(_ reason: DisconnectReason) -> FeedEvent { .disconnected(reason, detail: "detail") }
        #expect(level(.connecting) == "info Connecting to feed")
        #expect(level(lost(.refused)) == "warning Feed unreachable, retrying")
        #expect(level(lost(.refused)) == "debug Feed unreachable, retrying")
        #expect(level(.connecting) == "debug Connecting to feed", "only the first attempt")
        #expect(level(lost(.timeout)) == "warning Feed unreachable, retrying")
        #expect(level(.connected(nil)) == "info Feed connected")
        #expect(level(lost(.lost)) == "warning Feed lost, reconnecting")
        #expect(level(lost(.lost)) == "debug Feed unreachable, retrying")
        #expect(level(.connected(nil)) == "info Feed connected")
        #expect(level(lost(.paused)) == "info Feed disconnected")
        #expect(level(.paused) == "info Feed paused: no scrapes")
        #expect(level(.resumed) == "info Feed resumed")
        #expect(level(.connected(nil)) == "info Feed connected")
    }

    @Test("is logged with its source when it connects and names one")
    func logOfSource() {
        var log = FeedLog(label: "ws://x/")
        let fields = HTTPFields([HTTPField(name: "air-quality-source", value: "open-meteo; kind=model")])
        #expect(
            log.entry(for: FeedEvent(.connected(fields)))?.metadata
                == ["feed": "ws://x/", "source": "open-meteo"])
        #expect(log.entry(for: .connected(nil))?.metadata == ["feed": "ws://x/"])
    }

    @Test(
        "has a source with a kind and a license, none of them longer than 128 bytes",
        arguments: [
            (#"open-meteo; kind=model; license="CC BY 4.0""#, ["open-meteo", "model", "CC BY 4.0"]),
            ("cpcb;KIND=stations", ["cpcb", "stations", ""]), ("waqi", ["waqi", "", ""]),
            (#"a b ; license = "x" ; kind=satellite"#, ["a b", "", ""]),
            (#""a;b"; license="say \"hi\" \\; or not" ; kind=model"#, ["a;b", "model", #"say "hi" \; or not"#]),
            ("openaq; license=\"unfinished; kind=model", ["openaq", "", "unfinished; kind=model"]),
            ("x; kind; license; =; ;;", ["x", "", ""]),
            (String(repeating: "x", count: 128), [String(repeating: "x", count: 128), "", ""]),
            ("x; license=\(String(repeating: "y", count: 129))", ["x", "", ""]),
            ("x; license=\"a\u{7}b\"", ["x", "", ""]), (String(repeating: "x", count: 129), nil), ("", nil),
            ("; kind=model", nil), ("\u{1}", nil),
        ] as [(String, [String]?)])
    func source(text: String, expected: [String]?) {
        let other = HTTPField(name: "Air-Quality-Source", value: "second")
        let source = FeedSource(HTTPFields([HTTPField(name: "Air-Quality-Source", value: text), other]))
        #expect(source.map { [$0.name, $0.kind, $0.license] } == expected)
    }

    @Test("is paused when nobody has read for the limit, and resumed by the next read")
    func usage() {
        let usage = FeedUsage(limit: .seconds(60), at: .seconds(100))
        #expect(usage.tick(at: .seconds(159)) == nil)
        #expect(usage.read(at: .seconds(159)) == nil)
        #expect(usage.nextTickAt == .seconds(219))
        #expect(usage.tick(at: .seconds(218)) == nil)
        #expect(usage.tick(at: .seconds(219)) == .pause)
        #expect(usage.tick(at: .seconds(300)) == nil)
        #expect(usage.nextTickAt == nil)
        #expect(usage.read(at: .seconds(301)) == .resume)
        #expect(usage.read(at: .seconds(302)) == nil)
        #expect(usage.tick(at: .seconds(362)) == .pause)
        let never = FeedUsage(limit: .zero, at: .zero)
        #expect(never.tick(at: .seconds(1_000_000)) == nil)
        #expect(never.read(at: .zero) == nil)
    }

    @Test("is fresh, or the health path says in one line what is missing")
    func readiness() {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/", "ws://b/"], at: 0)
        let health = Health(store: store, stuckFeeds: { [] })
        var a = FeedStatistics(label: "ws://a/", idleTimeout: 60_000)
        let b = FeedStatistics(label: "ws://b/")
        #expect(
            health.readinessProblem(of: [a, b], at: 0)
                == "no fresh feed: ws://a/: not connected; ws://b/: not connected")
        a.lastProblem = "connection refused"
        #expect(health.readinessProblem(of: [a], at: 0) == "no fresh feed: ws://a/: not connected (connection refused)")
        a.isConnected = true
        #expect(health.readinessProblem(of: [a], at: 0) == "no fresh feed: ws://a/: connected, no message yet")
        a.lastMessageAt = 1000
        #expect(health.readinessProblem(of: [a, b], at: 61_000) == nil)
        #expect(health.readinessProblem(of: [a], at: 61_001) == "no fresh feed: ws://a/: no message for 60 s")
        a.isConnected = false
        a.isPaused = true
        #expect(health.readinessProblem(of: [b, a], at: 1_000_000) == nil)
        // After a start the cities are waited for as well.
        let growing = ReadingStore(rules: StoreRules(warmUp: 10_000), feeds: ["ws://a/"], at: 0)
        let warming = Health(store: growing, stuckFeeds: { [] })
        #expect(
            warming.warmUpProblem(at: 9999)
                == "warming up: 0 cities, the last new one 9 s ago, expected none for 10s")
        growing.restore(
            [City(id: 1, name: Array("Pune".utf8), index: 1, updatedAt: 0, receivedAt: 0, category: 1)], at: 0)
        #expect(
            warming.warmUpProblem(at: 1000)
                == "warming up: 1 cities, the last new one 1 s ago, expected none for 10s, "
                + "or the 1 restored ones that have not been heard of yet")
        #expect(warming.warmUpProblem(at: 10_000) == nil && warming.warmUpProblem(at: 0) == nil)
        #expect(health.warmUpProblem(at: 0) == nil)
        let patient = Health(store: store, stuckFeeds: { ["ws://a/"] })
        a.isConnected = true
        a.idleTimeout = 0
        #expect(patient.readinessProblem(of: [a], at: 1_000_000_000) == nil)
        #expect(patient.livenessProblem == "the loop of feed ws://a/ is stuck")
        #expect(health.livenessProblem == nil)
        store.withLock { _ in
            #expect(health.livenessProblem(at: .seconds(10)) == nil)
            #expect(health.livenessProblem(at: .seconds(11)) == nil)
            #expect(health.livenessProblem(at: .seconds(12)) == "the store has been locked for more than a second")
        }
        #expect(health.livenessProblem(at: .seconds(20)) == nil)
    }
}
