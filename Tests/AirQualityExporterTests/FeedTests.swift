import Bytes
import FeedProtocol
import HTTPText
import JSON
import System
import Testing

@testable import AirQuality
@testable import AirQualityExporter
@testable import WebSocket

@Suite("A feed") struct FeedTests {
    @Test("is logged when its state changes, not at every attempt") func log() {
        var log = FeedLog(label: "ws://x/")
        func level(_ event: FeedEvent) -> String {
            log.entry(for: event, at: .zero).map { "\($0.level) \($0.message)" } ?? "-"
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

    @Test("is logged hourly while it is down") func reminder() {
        var log = FeedLog(label: "ws://x/")
        let lost = FeedEvent.disconnected(.refused, detail: "detail")
        let said = stride(from: 0, through: 3 * 3600, by: 20).compactMap { second -> String? in
            guard let entry = log.entry(for: lost, at: .seconds(second)), entry.level == .warning else { return nil }
            return entry.metadata["down_for"] ?? "first"
        }
        #expect(said == ["first", "1h", "2h", "3h"])
    }

    @Test("that goes up and down all the time has twenty lines at once, then twenty each hour") func flood() {
        var log = FeedLog(label: "ws://x/")
        var lines: [Int] = []
        for second in 0..<2 * 3600 {
            let event = second % 2 == 0 ? FeedEvent.connected(nil) : .disconnected(.lost, detail: "x")
            if let entry = log.entry(for: event, at: .seconds(second)), entry.level != .debug { lines.append(second) }
        }
        #expect(lines.prefix(21) == ArraySlice(0...20))
        #expect((35...45).contains(lines.count - 21))
        #expect(lines.last.map { $0 % 2 == 0 } == true, "a feed is not left as lost that is connected")
    }

    @Test("has its rejections told at the first of each reason, then hourly") func rejections() {
        var log = FeedLog(label: "ws://x/")
        var (cities, values) = (RejectionCounts(), RejectionCounts())
        cities[.noCity] = 6
        values[.noValue] = 1
        #expect(log.due(cities, at: .seconds(1)) == [.noCity])
        #expect(log.due(values, at: .seconds(2)) == [.noValue])
        values += cities
        for second in stride(from: 3, to: 3601, by: 7) { #expect(log.due(values, at: .seconds(second)).isEmpty) }
        #expect(log.due(values, at: .seconds(3602)) == [.noCity, .noValue])
    }

    /// What is said of a message of which everything is rejected.
    private func said(_ message: String, _ format: FeedFormat = FeedFormat()) throws -> String {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://x/"], at: 0)
        store.apply(.connected(nil), feed: 0)
        var decoder = FeedDecoder(format: format)
        store.record(decoder.decode(Array(message.utf8).span, receivedAt: 0), feed: 0)
        let health = Health(store: store)
        let prefix = "no fresh feed: ws://x/: readings rejected: "
        let problem = try #require(health.readinessProblem(of: store.feeds, at: 0))
        #expect(problem.hasPrefix(prefix))
        #expect(health.hint(of: store.feeds) == "All readings are rejected: \(problem.dropFirst(prefix.count))")
        return String(problem.dropFirst(prefix.count))
    }

    @Test(
        "of which all is rejected is not ready, which names the flags that would read it",
        arguments: [
            (
                #"[{"name":"Pune","AQI":5},{"name":"Delhi"}]"#,
                #"reason=no_city rejected=2 accepted=0 members="name,AQI" hint="--feed.city-field, --feed.value-field""#
            ),
            (
                #"[{"name":"Pune","aqi":5}]"#,
                #"reason=no_city rejected=1 accepted=0 members="name,aqi" hint=--feed.city-field"#
            ),
            (#"[{"city":null,"aqi":5}]"#, #"reason=no_city rejected=1 accepted=0 members="city,aqi""#),
            (
                #"[{"city":{"name":"x"},"aqi":5}]"#,
                #"reason=bad_city rejected=1 accepted=0 members="city,aqi" hint=--feed.city-field"#
            ),
            (
                #"[{"city":"Pune","AQI":5},{"city":"","aqi":1},{"city":"Pune","AQI":5}]"#,
                #"reason=no_value rejected=2 accepted=0 members="city,AQI" hint=--feed.value-field"#
            ),
            (#"[{"city":"Pune","aqi":"NA"}]"#, #"reason=no_value rejected=1 accepted=0 members="city,aqi""#),
            (
                #"{"status":"ok","data":[{"city":"Pune","aqi":5}]}"#,
                #"reason=no_city rejected=1 accepted=0 members="status,data" hint="--feed.items /data""#
            ),
            (
                #"{"data":{"n":1,"sta.tions-1":[{"city":"Pune","aqi":5}]}}"#,
                #"reason=no_city rejected=1 accepted=0 members=data hint="--feed.items /data/sta.tions-1""#
            ),
            // The feed has written it, and people copy it into a shell.
            (
                #"{"a;rm -r":[{"city":"Pune"}]}"#,
                #"reason=no_city rejected=1 accepted=0 members="a;rm -r" hint=--feed.items"#
            ),
            ("7", "reason=not_an_array rejected=1 accepted=0 hint=--feed.items"),
            ("[[7],8]", "reason=not_an_object rejected=2 accepted=0 hint=--feed.items"),
            ("[", "reason=not_json rejected=1 accepted=0"),
            (#"[{"city":"Pune","aqi":10000}]"#, "reason=out_of_range rejected=1 accepted=0"),
            (
                #"[{"\u001b[2J\n\"\u202e":1}]"#,
                #"reason=no_city rejected=1 accepted=0 members=" [2J \" " hint="--feed.city-field, --feed.value-field""#
            ),
        ])
    func explains(_ message: String, _ words: String) throws {
        #expect(try said(message) == words)
    }

    @Test("says where the array is that its flag does not name, and keeps what it says short")
    func explainsItems() throws {
        let format = FeedFormat(items: try #require(jsonPointer("/data")))
        #expect(
            try said(#"{"results":[{"city":"Pune"}]}"#, format)
                == #"reason=not_an_array rejected=1 accepted=0 members=results hint="--feed.items /results""#)
        let name = String(repeating: #"é\u0000"#, count: 30_000)
        let many = (0..<1000).map { "\"\($0)\(name)\":1" }.joined(separator: ",")
        #expect(try said("[{\(many)}]").utf8.count < 2000)
        #expect(try said("{\(many)}").utf8.count < 2000)
    }

    @Test("is ready with one reading since it connected, and counts from there") func rejectionsOfConnection() {
        var feed = FeedStatistics(label: "x")
        let health = Health(store: ReadingStore(rules: StoreRules(), feeds: [], at: 0))
        let store = ReadingStore(rules: StoreRules(), feeds: ["x"], at: 0)
        var decoder = FeedDecoder(format: FeedFormat())
        func receive(_ message: String) -> String? {
            store.record(decoder.decode(Array(message.utf8).span, receivedAt: 0), feed: 0)
            feed = store.feeds[0]
            return health.readinessProblem(of: [feed], at: 0)
        }
        store.apply(.connected(nil), feed: 0)
        #expect(receive("[]") == nil)
        #expect(receive("[7]") != nil)
        #expect(receive(#"[{"city":"Pune","aqi":5}]"#) == nil)
        #expect(receive("[7,7]") == nil)
        #expect(feed.connection.rejections[.notAnObject] == 3 && feed.connection.readings == 1)
        store.apply(.disconnected(.lost, detail: "x"), feed: 0)
        store.apply(.connected(nil), feed: 0)
        decoder.beginConnection()
        #expect(
            receive(#"[{"x":5}]"#)?.hasSuffix(
                #"rejected=1 accepted=0 members=x hint="--feed.city-field, --feed.value-field""#) == true)
        #expect(feed.connection.rejected.count == 1)
    }

    @Test("is logged with its source when it connects and names one") func logOfSource() {
        var log = FeedLog(label: "ws://x/")
        let fields = HTTPFields([HTTPField(name: "air-quality-source", value: "open-meteo; kind=model")])
        #expect(
            log.entry(for: FeedEvent(.connected(fields)), at: .zero)?.metadata
                == ["feed": "ws://x/", "source": "open-meteo"])
        #expect(log.entry(for: .connected(nil), at: .zero)?.metadata == ["feed": "ws://x/"])
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

    @Test("is paused when nobody has read for the limit, and resumed by the next read") func usage() {
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

    @Test("is fresh, or the health path says in one line what is missing") func readiness() {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/", "ws://b/"], at: 0)
        let health = Health(store: store)
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
        let patient = Health(store: store)
        a.isConnected = true
        a.idleTimeout = 0
        #expect(patient.readinessProblem(of: [a], at: 1_000_000_000) == nil)
        #expect(health.livenessProblem() == nil)
        store.withLock { _ in
            let problem = health.livenessProblem(limit: .milliseconds(20))
            #expect(problem == "the store has been locked for more than a second")
        }
        #expect(health.livenessProblem() == nil)
    }
}
