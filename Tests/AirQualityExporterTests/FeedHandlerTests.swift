import Bytes
import FeedOptions
import HTTPText
import System
import TestSupport
import Testing

@testable import AirQuality
@testable import AirQualityExporter
@testable import WebSocket

struct FeedHandlerTests {
    private let lines = WrittenLines()
    private let store = ReadingStore(rules: StoreRules(cityLimit: 200), feeds: ["ws://x/"], at: 0)

    /// The logged lines, without the time.
    private var logged: [String] {
        lines.text.replacing("time=1970-01-01T00:00:00.000Z ", with: "").split(separator: "\n").map { String($0) }
    }

    private func handler(_ settings: FeedSettings = FeedSettings()) throws -> FeedHandler {
        let feed = ConfiguredFeed(label: "ws://x/", address: try WebSocketAddress("ws://x/"), settings: settings)
        return FeedHandler(feed, feedIndex: 0, store: store, logger: Logger(now: { 0 }, write: lines.append))
    }

    /// The lines that a message leads to, each without its first words.
    private func lines(about message: String, _ settings: FeedSettings = FeedSettings()) throws -> String {
        var handler = try handler(settings)
        handler.receive(.text, Array(message.utf8).span)
        return logged.map { line in
            line.replacing(" feed=ws://x/", with: "").replacing(
                #" hint="air-quality-exporter probe ADDRESS""#, with: ""
            )
            .replacing(#"level=WARN msg="Readings rejected" reason="#, with: "")
            .replacing(#"level=INFO msg="Message without readings""#, with: "without readings")
            .replacing(#"level=INFO msg="Message of the feed's server""#, with: "server")
        }.joined(separator: "|")
    }

    @Test func `A message with every city twice is one line with ten names`() throws {
        let twice = (0..<100).map { #"{"city":"City \#($0 / 2)","aqi":1}"# }.joined(separator: ",")
        let names = (0..<10).map { "City \($0)" }.joined(separator: ", ")
        let text = #"level=WARN msg="Duplicate city in one message or from two feeds: using the last reading""#
        #expect(try lines(about: "[\(twice)]") == #"\#(text) city="\#(names)" cities=50"#)
    }

    @Test func `Cities that come twice, each in a message of its own, are a line a minute`() throws {
        var handler = try handler()
        for second in 0..<150 {
            let element = #"{"city":"City \#(second)","aqi":1}"#
            handler.receive(.text, Array("[\(element),\(element)]".utf8).span, at: .seconds(second))
        }
        func names(_ range: Range<Int>) -> String { range.map { "City \($0)" }.joined(separator: ", ") }
        let ends = logged.map { $0.split(separator: #" city=""#).last ?? "" }
        #expect(
            ends == [
                #"City 0" cities=1 feed=ws://x/"#, #"\#(names(1..<11))" cities=60 feed=ws://x/"#,
                #"\#(names(61..<71))" cities=60 feed=ws://x/"#,
            ])
    }

    @Test(
        arguments: [
            (
                #"[{"city":"Pune","aqi":1,"pollutants":{%}}]"#, #""gas #":1"#,
                #"level=WARN msg="Unknown pollutants skipped" pollutants="gas 0, "#, "gas "
            ),
            (
                "[%]", #"{"city":"City #","aqi":1}"#,
                #"level=WARN msg="City rejected: --city.limit is reached" city="City 200, "#, ", City"
            ),
        ])
    func `Many names that cannot be used are one line with ten of them`(
        message: String, part: String, beginning: String, name: String
    ) throws {
        let parts = (0..<300).map { part.replacing("#", with: "\($0)") }.joined(separator: ",")
        let line = try lines(about: message.replacing("%", with: parts))
        #expect(line.hasPrefix(beginning))
        #expect(line.ranges(of: name).count == (name == "gas " ? 10 : 9))
    }

    @Test(
        arguments: [
            (
                #"[{"name":"Pune","AQI":5},{"name":"Delhi","AQI":7}]"#,
                "no_city rejected=2 accepted=0 members=\"name,AQI\""
            ),
            (#"[{"name":"Pune","aqi":5}]"#, "no_city rejected=1 accepted=0 value=5 members=\"name,aqi\""),
            (
                #"[{"city":"Delhi","aqi":"N/A"}]"#,
                "no_value rejected=1 accepted=0 city=Delhi value=N/A members=\"city,aqi\""
            ),
            (
                #"[{"city":"Delhi","aqi":"x"},{"city":"Pune","aqi":1}]"#,
                "bad_value rejected=1 accepted=1 city=Delhi value=x members=\"city,aqi\""
            ),
            (
                #"[{"city":"Delhi","aqi":[1]},{"city":"Pune","aqi":{}}]"#,
                "bad_value rejected=2 accepted=0 city=Delhi value=[…] members=\"city,aqi\""
            ),
            (#"[{"city":"Delhi","aqi":12000}]"#, "out_of_range rejected=1 accepted=0 city=Delhi value=12000.0"),
            ("7", "not_an_array rejected=1 accepted=0 value=7"),
            ("[[7],8]", "not_an_object rejected=2 accepted=0 value=[…]"),
            ("[8,[7]]", "not_an_object rejected=2 accepted=0 value=8"),
            (#"{"humid":40,"score":88}"#, "no_city rejected=1 accepted=0 members=\"humid,score\""),
            (#"[{"city":"Pune","aqi":nan}]"#, #"not_json rejected=1 accepted=0 err="unexpected nan at byte 22""#),
            ("[", #"not_json rejected=1 accepted=0 err="ends too early, at byte 1""#),
            ("\u{FEFF}[NaN,", #"not_json rejected=1 accepted=0 err="ends too early, at byte 8""#),
            (#"[{"aqi":1e999,"city":"Pune"}]"#, #"not_json rejected=1 accepted=0 err="unexpected 1e999 at byte 8""#),
            (
                #"[{"aqi":18446744073709551616}]"#,
                #"not_json rejected=1 accepted=0 err="unexpected 18446744073709551616 at byte 8""#
            ),
            (#"[{'city':"Pune"}]"#, #"not_json rejected=1 accepted=0 err="unexpected 'city' at byte 2""#),
            (#"[{"city":"Pune" "aqi":1}]"#, "not_json rejected=1 accepted=0"),
            ("[]", "without readings"),
            (
                #"{"error":"auth required"}"#,
                #"server server_message="auth required"|no_city rejected=1 accepted=0 members=error"#
            ),
            (
                #"{"payload":{"reason":"no"},"error":1}"#,
                "server server_message=no|no_city rejected=1 accepted=0 members=\"payload,error\""
            ),
            (
                #""Invalid access token""#,
                #"server server_message="Invalid access token"|not_an_array rejected=1 accepted=0 value="Invalid access token""#
            ),
        ])
    func `What gives no reading is logged with its reason, an example and its members`(
        _ message: String, _ expected: String
    ) throws { #expect(try lines(about: message) == expected) }

    @Test func `A byte that is not UTF-8 is named with its position`() throws {
        var handler = try handler()
        handler.receive(.text, Array(#"[{"city":"Pune \u{0}"#.utf8 + [0xE9] + "]".utf8).span)
        #expect(logged.last?.contains(#"err="not UTF-8 at byte"#) == true)
    }

    @Test func `A time of another form is logged with the functions that read it`() throws {
        var settings = FeedSettings()
        settings.format = FeedFormat(timeField: "t")
        let line = try lines(about: #"[{"city":"Pune","aqi":1,"t":"28/11/2026 10:00"}]"#, settings)
        #expect(line.contains(#"time="28/11/2026 10:00""#) && line.contains("strptime") && line.contains("mktime"))
    }

    @Test func `No value of a message without readings is logged`() throws {
        var settings = FeedSettings()
        settings.format.items = [Array("data".utf8)]
        let line = try lines(about: #"{"token":"s3cret","session":{"id":"s3cret"}}"#, settings)
        #expect(line == "without readings members=\"token,session\"")
    }

    @Test func `Rejections are logged at the first of each reason, and then hourly by what came most`() throws {
        var handler = try handler()
        handler.receive(.text, Array(#"[{"place":"x"}]"#.utf8).span, at: .seconds(1))
        for second in stride(from: 2, through: 3601, by: 7) {
            handler.receive(.text, Array(#"[{"town":"x","aqi":1}]"#.utf8).span, at: .seconds(second))
        }
        handler.receive(.text, Array(#"[{"place":"x"}]"#.utf8).span, at: .seconds(3602))
        let members = logged.compactMap { $0.split(separator: " ").first { $0.hasPrefix("members=") } }
        #expect(members == ["members=place", "members=\"town,aqi\""])
    }

    @Test func `The end of rejections is logged once`() throws {
        var handler = try handler()
        func receive(_ message: String, at second: Int) {
            handler.receive(.text, Array(message.utf8).span, at: .seconds(second))
        }
        for second in 0..<100 { receive("[{}]", at: second) }
        let reading = #"[{"city":"Pune","aqi":1}]"#
        receive(reading, at: 998)
        func logged(_ words: String) -> [String] { self.logged.filter { $0.contains(words) } }
        #expect(logged("Rejections stopped").isEmpty)
        for second in [999, 2000, 4000] { receive(reading, at: second) }
        let line = #"level=INFO msg="Rejections stopped" feed=ws://x/ reason=no_city lasted=1m39s rejected=100"#
        #expect(logged("Rejections stopped") == [line])
        receive("[{}]", at: 4001)
        #expect(logged("Readings rejected").count == 2, "a new beginning is logged at once")
    }

    @Test func `Four different messages of a server are logged in an hour, and the last one when it closes`() throws {
        var handler = try handler()
        handler.handle(.connected([]))
        for number in 0..<100 { handler.receive(.text, Array(#"{"error":"\#(number)"}"#.utf8).span, at: .seconds(1)) }
        #expect(logged.count { $0.contains("server_message=") } == RejectionLog.maximumWords)
        handler.handle(.disconnected(.closed, detail: "closed"))
        #expect(logged.last?.hasSuffix("err=closed server_message=99") == true)
        handler.handle(.connecting)
        handler.handle(.connected([]))
        handler.handle(.disconnected(.lost, detail: "x"))
        #expect(logged.last?.contains("server_message=") == false, "of an earlier connection")
    }

    @Test(
        arguments: [
            ("-ERR 'Authorization Violation'\r\n", #"server_message="-ERR 'Authorization Violation'  ""#),
            ("\"Invalid access token\"", #"server_message="Invalid access token""#),
            ("44{\"message\":\"no\"}", "server_message="), ("{\"token\":\"t\"}", nil), ("2", nil), ("", nil),
            ("\n", nil), ("[{\"city\":\"Pune\",\"aqi\":1}]", nil),
        ] as [(String, String?)])
    func `A last message that is a text is logged when the server then closes`(message: String, words: String?) throws {
        var handler = try handler()
        handler.handle(.connecting)
        handler.handle(.connected([]))
        handler.receive(.text, Array(message.utf8).span)
        handler.handle(.disconnected(.closed, detail: "closed"))
        let line = logged.last ?? ""
        #expect(words.map { line.contains($0) } ?? !line.contains("server_message="), "\(line)")
        handler.handle(.connecting)
        handler.handle(.disconnected(.refused, detail: "refused"))
        #expect(logged.last?.contains("server_message=") == false)
    }

    @Test func `A feed whose snapshot is read but not its updates is named once`() throws {
        var handler = try handler()
        handler.handle(.connected([]))
        handler.receive(.text, Array(#"[{"city":"Pune","aqi":1}]"#.utf8).span)
        for _ in 0..<100 { handler.receive(.text, Array(#"{"type":"update","data":[]}"#.utf8).span) }
        let named = logged.filter { $0.contains("Most messages of the feed carry nothing that is read") }
        #expect(named.count == 1 && named[0].hasSuffix(#"read=1 hint="air-quality-exporter probe ADDRESS""#))
    }

    @Test func `Of a long message little is logged`() throws {
        let name = String(repeating: #"é\u0000"#, count: 30_000)
        let many = (0..<1000).map { "\"\($0)\(name)\":1" }.joined(separator: ",")
        for message in ["[{\(many)}]", #"[{"city":"\#(name)"}]"#, "\"\(name)\"", #"{"error":"\#(name)"}"#] {
            #expect(try lines(about: message).utf8.count < 8000)
        }
    }
}
