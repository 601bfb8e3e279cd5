import Bytes
import CommandLine
import FeedOptions
import FeedProtocol
import HTTPText
import JSON
import System
import TestSupport
import Testing

@testable import AirQuality
@testable import AirQualityExporter
@testable import WebSocket

struct FeedTests {
    private let lines = WrittenLines()

    private func log(level: Logger.Level = .debug) -> FeedLog {
        FeedLog(label: "ws://x/", logger: Logger(level: level, now: { 0 }, write: lines.append))
    }

    /// The logged lines, without the time.
    private var logged: [String] {
        lines.text.replacing("time=1970-01-01T00:00:00.000Z ", with: "").split(separator: "\n").map { String($0) }
    }

    @Test func `A feed is logged when its state changes, not at every attempt`() {
        var log = log()
        func level(_ event: FeedEvent) -> String {
            log.note(event, at: .zero)
            return String(logged.last?.prefix { $0 != "\"" } ?? "") + (logged.last?.split(separator: "\"")[1] ?? "")
        }
        func lost(_ reason: DisconnectReason) -> FeedEvent { .disconnected(reason, detail: "detail") }
        #expect(level(.connecting) == "level=INFO msg=Connecting to feed")
        #expect(level(lost(.refused)) == "level=WARN msg=Feed unreachable, retrying")
        #expect(level(lost(.refused)) == "level=DEBUG msg=Feed unreachable, retrying")
        #expect(level(.connecting) == "level=DEBUG msg=Connecting to feed", "only the first attempt")
        #expect(level(lost(.timeout)) == "level=WARN msg=Feed unreachable, retrying")
        #expect(level(.connected(nil)) == "level=INFO msg=Feed connected")
        #expect(level(lost(.lost)) == "level=WARN msg=Feed lost, reconnecting")
        #expect(level(lost(.lost)) == "level=DEBUG msg=Feed unreachable, retrying")
        #expect(level(.connected(nil)) == "level=INFO msg=Feed connected")
        #expect(level(lost(.paused)) == "level=INFO msg=Feed disconnected")
        #expect(level(.paused) == "level=INFO msg=Feed paused: no scrapes")
        #expect(level(.resumed) == "level=INFO msg=Feed resumed")
        #expect(level(.connected(nil)) == "level=INFO msg=Feed connected")
        #expect(level(lost(.requested)) == "level=INFO msg=Feed disconnected")
        #expect(level(.connected(nil)) == "level=INFO msg=Feed connected", "the end of a reconnect")
        #expect(level(lost(.requested)) == "level=INFO msg=Feed disconnected")
        #expect(level(lost(.handshake)) == "level=WARN msg=Feed unreachable, retrying")
    }

    @Test func `A feed that is down is logged hourly`() {
        var log = log(level: .warning)
        for second in stride(from: 0, through: 3 * 3600, by: 20) {
            log.note(.disconnected(.refused, detail: "detail"), at: .seconds(second))
        }
        let first = "level=WARN msg=\"Feed unreachable, retrying\" feed=ws://x/ reason=refused err=detail"
        #expect(logged == [first] + (1...3).map { first + " down_for=\($0)h" })
    }

    @Test func `A flapping feed is logged twenty times at once, and then twenty times an hour`() {
        var log = log(level: .info)
        var loggedAt: [Int] = []
        for second in 0..<2 * 3600 {
            let count = logged.count
            log.note(second % 2 == 0 ? .connected(nil) : .disconnected(.lost, detail: "x"), at: .seconds(second))
            if logged.count > count { loggedAt.append(second) }
        }
        #expect(loggedAt.prefix(21) == ArraySlice(0...20))
        #expect((35...45).contains(loggedAt.count - 21))
        #expect(loggedAt.last.map { $0 % 2 == 0 } == true, "a connected feed is not logged as lost last")
    }

    private func handler(_ store: ReadingStore, _ settings: Configuration = Configuration()) throws -> FeedHandler {
        let feed = ConfiguredFeed(label: "ws://x/", address: try WebSocketAddress("ws://x/"), settings: settings)
        return FeedHandler(feed, number: 0, store: store, logger: Logger(now: { 0 }, write: lines.append))
    }

    @Test func `Rejections are logged at the first of each reason, and then hourly`() throws {
        var handler = try handler(ReadingStore(rules: StoreRules(), feeds: ["ws://x/"], at: 0))
        let seconds = [1] + Array(stride(from: 3, to: 3601, by: 7)) + [3602]
        for second in seconds { handler.receive(.text, Array(#"[{"aqi":1}]"#.utf8).span, at: .seconds(second)) }
        for message in ["[]", #"[{"city":"x"}]"#] { handler.receive(.text, Array(message.utf8).span, at: .seconds(2)) }
        #expect(logged.count { $0.contains("reason=no_city") } == 2 && logged.count == 4)
    }

    /// The explanation of a message's first rejection, or of its lack of readings.
    private func explanation(of message: String, _ settings: Configuration = Configuration()) -> String {
        var reader = MessageReader(settings)
        let bytes = Array(message.utf8)
        let decoded = reader.read(bytes.span, receivedAt: 0)
        let reason = RejectionReason.allCases.first { decoded.rejections[$0] > 0 }
        let explanation = MessageExplanation(reason, of: bytes, decoded, settings: settings)
        return explanation.fields.map { "\($0.name)=\($0.text)" }.joined(separator: " ")
    }

    @Test(
        arguments: [
            (
                #"[{"name":"Pune","AQI":5},{"name":"Delhi","AQI":7}]"#,
                "fields=name,AQI hint=--feed.city-field name --feed.value-field AQI"
            ),
            (#"[{"name":"Pune","aqi":5}]"#, "value=5 fields=name,aqi hint=--feed.city-field name"),
            (#"[{"city":"Delhi","aqi":"N/A"}]"#, "city=Delhi value=N/A fields=city,aqi"),
            (#"[{"city":"Delhi","aqi":"x"},{"city":"Pune","aqi":1}]"#, "city=Delhi value=x fields=city,aqi"),
            (#"{"status":"ok","data":[{"city":"Pune","aqi":5}]}"#, "fields=status,data hint=--feed.items /data"),
            (#"{"a;rm -r":[{"city":"Pune","aqi":5}]}"#, "fields=a;rm -r hint=--feed.items '/a;rm -r'"),
            ("7", "message=7"), ("[[7],8]", "element=[7]"), (#"{"humid":40,"score":88}"#, "fields=humid,score"),
            (#"[{"city":"Pune","aqi":NaN}]"#, "err=unexpected NaN at byte 22"), ("[", "err=ends too early, at byte 1"),
            ("\u{FEFF}[NaN]", "err=unexpected NaN at byte 4"),
            (#"[{"city":"Pune","aqi":-Infinity}]"#, "err=unexpected -Infinity at byte 22"),
            (#"[{"aqi":1e999,"city":"Pune"}]"#, "err=unexpected 1e999 at byte 8"),
            (#"[{"aqi":18446744073709551616}]"#, "err=unexpected 18446744073709551616 at byte 8"),
            (#"[{'city':"Pune"}]"#, "err=unexpected 'city' at byte 2"),
            (#"[{"city":"Pu"#, "err=ends too early, at byte 12"),
            (#"[{"city":"Pune" "aqi":1}]"#, #"message=[{"city":"Pune" "aqi":1}]"#),
            (#"{"error":"auth required"}"#, "fields=error server_message=auth required"),
            (#"{"jsonrpc":"2.0","id":1,"error":"bad"}"#, "fields=jsonrpc,id,error server_message=bad"),
            (#"[{"id":7.5,"aqi":50},{"id":8.5,"aqi":60}]"#, "value=50 fields=id,aqi"),
            (#"[{"\u001b[2J\n\"\u202e":1}]"#, #"fields= [2J " "#), ("[]", "message=[]"),
        ])
    func `A message without readings is explained, with the flags that would read it`(
        _ message: String, _ words: String
    ) { #expect(explanation(of: message) == words) }

    @Test(
        arguments: [
            (#"[{"error":"no"}]"#, "no"), (#"{"errors":["no"]}"#, "no"), (#"{"Message":"no"}"#, "no"),
            (#"{"status":"error","data":"no"}"#, "no"),
            (#"{"type":"error","id":"7","payload":{"message":"no"}}"#, "no"),
            (#"{"type":"connection_error","payload":[{"Message":"no"}]}"#, "no"),
            (#"{"success":false,"text":"no"}"#, "no"),
            (#"[null,"1","t","phx_reply",{"status":"error","response":{"reason":"no"}}]"#, "no"),
            (#"{"error":{"code":401,"message":"no"}}"#, "no"), (#"{"errors":{"token":["no"]}}"#, "no"),
            (#"{"error_message":"no"}"#, "no"), (#"{"error":true,"msg":"no"}"#, "no"),
            (#"{"type":"welcome","title":"yes"}"#, nil), (#"{"data":{"message":"yes","description":"yes"}}"#, nil),
            (#"{"error":"","status":"ok"}"#, nil), (#"{"status":"error"}"#, nil), ("7", nil), (#""text""#, nil),
        ] as [(String, String?)])
    func `A server's error is found wherever servers put it`(_ message: String, _ words: String?) {
        #expect(MessageExplanation.serverWords(in: message.utf8.span) == words)
    }

    @Test func `A server's error is not hidden by its greeting or by earlier errors`() throws {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://x/"], at: 0)
        var handler = try handler(store)
        func said() -> String? {
            let problem = store.snapshot(withHistories: true).readinessProblem(at: currentTime()) ?? ""
            return problem.firstRange(of: "server_message=").map { String(problem[$0.upperBound...]) }
        }
        let welcome = Array(#"{"type":"welcome"}"#.utf8)
        handler.handle(.connected([]))
        handler.receive(.text, welcome.span)
        #expect(said() == nil)
        for _ in 0..<20 { handler.receive(.text, Array(#"{"error":"auth required"}"#.utf8).span) }
        #expect(said() == "\"auth required\"")
        handler.receive(.text, welcome.span)
        #expect(said() == "\"auth required\"")
        for words in ["quota", "closed", "quota"] {
            handler.handle(.disconnected(.lost, detail: "x", retryAfter: nil))
            handler.handle(.connected([]))
            handler.receive(.text, welcome.span)
            #expect(said() == nil, "an error of an earlier connection")
            handler.receive(.text, Array(#"{"error":"\#(words)"}"#.utf8).span)
            #expect(said() == words)
        }
        for number in 0..<100 { handler.receive(.text, Array(#"{"error":"\#(number)"}"#.utf8).span) }
        #expect(lines.text.split(separator: "\n").filter { $0.contains("server_message=") }.count == FeedLog.burst)
        handler.receive(.text, welcome.span, at: monotonicTime() + .seconds(3600))
        #expect(logged.last?.hasSuffix("accepted=0 fields=type") == true)
    }

    @Test func `Secrets that a server repeats are masked`() throws {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://x/"], at: 0)
        var settings = Configuration()
        settings.feed.headers = [HTTPField(name: "Authorization", value: "Bearer sent-secret")]
        settings.feed.client.subscriptions = ["stations"]
        var handler = try handler(store, settings)
        handler.handle(.connecting)
        handler.handle(.connected([]))
        for message in [#"{"error":"bad sent-secret"}"#, #"[{"city":"sent-secret"}]"#] {
            handler.receive(.text, Array(message.utf8).span)
        }
        let problem = store.snapshot(withHistories: true).readinessProblem(at: currentTime())
        #expect(problem?.contains("bad ***") == true)
        handler.handle(.disconnected(.closed, detail: "closed with status 1008: sent-secret", retryAfter: nil))
        #expect(logged.last?.contains("1008: ***") == true)
        #expect(store.snapshot(withHistories: true).readinessProblem(at: currentTime())?.contains("***") == true)
        #expect(!lines.text.contains("sent-secret"))
        handler.receive(.text, Array(#"{"stations":[{"city":"Pune","aqi":1}]}"#.utf8).span)
        #expect(logged.last?.contains("fields=stations hint=\"--feed.items /stations\"") == true)
    }

    @Test func `A greeting does not hide why the data is rejected`() throws {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://x/"], at: 0)
        var handler = try handler(store)
        handler.handle(.connected([]))
        let greetings = ["welcome", "subscribed", "ack", "ready"].map { #"{"type":"\#($0)","channel":"x"}"# }
        for message in greetings + [#"[{"station":"Delhi","index":12}]"#, #"{"type":"ping"}"#] {
            handler.receive(.text, Array(message.utf8).span)
        }
        let hint = "--feed.city-field station --feed.value-field index"
        #expect(store.snapshot(withHistories: true).readinessProblem(at: currentTime())?.contains(hint) == true)
        #expect(logged.count { $0.contains(hint) } == 1)
    }

    @Test func `A long message is explained briefly`() {
        let name = String(repeating: #"é\u0000"#, count: 30_000)
        let many = (0..<1000).map { "\"\($0)\(name)\":1" }.joined(separator: ",")
        #expect(explanation(of: "[{\(many)}]").utf8.count < 2000)
        #expect(explanation(of: #"[{"city":"\#(name)"}]"#).utf8.count < 2000)
        #expect(explanation(of: "\"\(name)\"").utf8.count < 2000)
        // The search does not start afresh for each JSON text: that would take minutes.
        let lines = String(repeating: #"{"name":"Pune","aqi":5} "#, count: 50_000)
        #expect(explanation(of: lines).hasSuffix("hint=--feed.city-field name"))
        // Plans are tried on the first values only: a jq program would take seconds for megabytes.
        #expect(JSONTree.array(Array(repeating: .array([]), count: 1000)).firstValues.elements?.count == 40)
        // Fields are not compared with one another: that would take minutes.
        func object(_ prefix: String, _ value: String) -> String {
            "{" + (0..<20_000).map { "\"\(prefix)\($0)\":\(value)" }.joined(separator: ",") + "}"
        }
        #expect(explanation(of: object("x", "[\"a\"]")).utf8.count < 2000)
        #expect(explanation(of: #"{"a":\#(object("x", "1")),"b":\#(object("y", "1"))}"#).utf8.count < 2000)
    }

    /// To Swift's String, a slash with a combining mark is not a slash.
    @Test func `Names with combining marks are explained as well`() {
        let message = #"[{"\#u{301}city":"Pune","\#u{301}aqi~\#u{301}":55,"'\#u{301}":1}]"#
        #expect(ReadingPlan.best(for: [Array(message.utf8)], inPlaceOf: Configuration()) != nil)
        #expect(ValueFormat.feedField().parse("/\u{301}~x") == nil)
        #expect(Array(shellQuoted("'\u{301}").unicodeScalars) == Array("''\\''\u{301}'".unicodeScalars))
    }

    @Test func `A feed that names its source is logged with it when it connects`() {
        var log = log()
        let fields = [HTTPField(name: "air-quality-source", value: "open-meteo; kind=model")]
        log.note(FeedEvent(.connected(fields)), at: .zero)
        log.note(.connected(nil), at: .seconds(3600))
        let line = "level=INFO msg=\"Feed connected\" feed=ws://x/"
        #expect(logged == [line + " source=open-meteo", line])
    }

    @Test(
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
    func `A source has a kind and a license, none longer than 128 bytes`(text: String, expected: [String]?) {
        let other = HTTPField(name: "Air-Quality-Source", value: "second")
        let source = FeedSource([HTTPField(name: "Air-Quality-Source", value: text), other])
        #expect(source.map { [$0.name, $0.kind, $0.license] } == expected)
    }

    @Test(
        arguments: [
            (60, [], 59, false), (60, [], 60, true), (60, [], 300, true), (60, [59], 118, false), (60, [59], 119, true),
            (60, [59, 201], 260, false), (60, [59, 201, 202], 262, true), (0, [], 1 << 40, false),
        ] as [(Int, [Int], Int, Bool)])
    func `Feeds are paused when unread, and resumed by a read`(limit: Int, reads: [Int], second: Int, isPaused: Bool) {
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(limit)
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(configuration, feeds: [], demo: nil, store: store, logger: Logger(write: lines.append))
        let start = feeds.usage.read(\.lastReadAt)
        for read in reads {
            feeds.pauseIfUnused(at: start + .seconds(read))
            feeds.noteRead(at: start + .seconds(read))
        }
        feeds.pauseIfUnused(at: start + .seconds(second))
        #expect(feeds.usage.read(\.isPaused) == isPaused)
        // A pause that was ended by hand comes again.
        feeds.reconnect(at: start + .seconds(second))
        #expect(!feeds.usage.read(\.isPaused))
        feeds.pauseIfUnused(at: start + .seconds(second + limit))
        #expect(feeds.usage.read(\.isPaused) == (limit > 0))
    }

    @Test func `A read that ends a pause during a reload resumes the new feeds as well`() throws {
        let directory = TemporaryDirectory()
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(60)
        configuration.feedFile = directory.write("feeds.yml", "- url: ws://127.0.0.1:1/old")
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(
            configuration, feeds: try configuration.configuredFeeds(), demo: nil, store: store,
            logger: Logger(write: lines.append))
        try feeds.start()
        defer { feeds.stop() }
        feeds.pauseIfUnused(at: feeds.usage.read(\.lastReadAt) + .seconds(60))
        eventually("the pause") { store.feeds.allSatisfy(\.isPaused) }
        directory.write("feeds.yml", "- url: ws://127.0.0.1:1/new")
        let start = Gate()
        let reload = try ServiceThread(name: "reload") {
            start.wait()
            _ = feeds.reload()
        }
        feeds.usage.change { usage in
            start.open()
            eventually("the end of the old feed") { !store.feeds.contains { $0.label.hasSuffix("old") } }
            usage.isPaused = false
        }
        reload.join()
        eventually("an attempt to connect") { store.feeds.contains { $0.connectionAttempts > 0 } }
    }

    @Test func `A feed that a reload adds during a pause is not dialled`() throws {
        let directory = TemporaryDirectory()
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(60)
        configuration.feedFile = directory.write("feeds.yml", "[]")
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(configuration, feeds: [], demo: nil, store: store, logger: Logger(write: lines.append))
        try feeds.start()
        defer { feeds.stop() }
        feeds.pauseIfUnused(at: feeds.usage.read(\.lastReadAt) + .seconds(60))
        directory.write("feeds.yml", "- url: ws://127.0.0.1:1/new")
        #expect(feeds.reload() == nil)
        eventually("the pause") { store.feeds.map(\.isPaused) == [true] }
        #expect(store.feeds.map(\.connectionAttempts) == [0])
    }

    @Test func `A feed with a fresh reading is ready, and otherwise the problem is named`() {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/"], at: 0)
        var decoder = FeedDecoder(format: FeedFormat())
        func receive(_ message: String, at time: Timestamp) {
            store.record(decoder.decode(Array(message.utf8).span, receivedAt: TestStore.start + time), feed: 0)
        }
        func problem(at time: Timestamp) -> String? {
            store.snapshot(withHistories: true).readinessProblem(at: TestStore.start + time)
        }
        _ = store.setFeed(label: "ws://a/", idleTimeout: 60_000)
        #expect(problem(at: 0) == "no fresh reading: ws://a/: not connected")
        store.apply(.disconnected(.refused, detail: "connection refused"), feed: 0)
        #expect(problem(at: 0) == "no fresh reading: ws://a/: not connected (connection refused)")
        store.apply(.connected(nil), feed: 0)
        #expect(problem(at: 0) == "no fresh reading: ws://a/: connected, no message yet")
        receive("[]", at: 0)
        store.apply(.explained(nil, [ExplanationField(name: "message", text: "[]")]), feed: 0)
        #expect(problem(at: 1000) == "no fresh reading: ws://a/: messages without readings: message=[]")
        receive(#"[{"city":"Pune","aqi":1}]"#, at: 1000)
        #expect(problem(at: 61_000) == nil)
        #expect(problem(at: 61_001) == "no fresh reading: ws://a/: no message for 60 s")
        // A city with hourly readings has a pace of its own.
        receive(#"[{"city":"Pune","aqi":2}]"#, at: 3_601_000)
        #expect(problem(at: 10_000_000) == nil)
        #expect(problem(at: 20_000_000) != nil)
        store.apply(.paused, feed: 0)
        #expect(problem(at: 20_000_000) == nil)
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

    @Test func `A feed of cities of other shards is not said to be rejected`() {
        let other = ["a", "b", "c", "d"].first { Shard(of: Array($0.utf8).span, count: 2).index == 1 } ?? ""
        var test = TestStore(format: FeedFormat(shard: Shard(index: 0, count: 2)))
        test.store.apply(.connected(nil), feed: 0)
        test.receive(#"[{"city":"\#(other)","aqi":1},{"city":"","aqi":1}]"#)
        #expect(test.rejections == ["bad_city": 1] && test.store.feeds[0].skipped == 1)
        let problem = test.store.snapshot(withHistories: true).readinessProblem(at: TestStore.start)
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
