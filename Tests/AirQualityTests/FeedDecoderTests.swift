import Bytes
import JSON
import TestSupport
import Testing

@testable import AirQuality

struct FeedDecoderTests {
    /// A message, its readings and its rejections.
    typealias Row = (message: String, cities: [String], rejections: [String: UInt64])

    /// A message with this value for Pune between two good elements.
    private static func value(_ value: String, _ city: String?, _ reason: String? = nil) -> Row {
        let message = #"[{"city":"Delhi","aqi":1},{"city":"Pune","aqi":\#(value)},{"city":"Surat","aqi":3}]"#
        return (message, ["Delhi 1.0"] + (city.map { [$0] } ?? []) + ["Surat 3.0"], reason.map { [$0: 1] } ?? [:])
    }

    private static func name(_ name: String, _ city: String?, _ reason: String? = nil) -> Row {
        (#"[{"city":\#(name),"aqi":1}]"#, city.map { [$0 + " 1.0"] } ?? [], reason.map { [$0: 1] } ?? [:])
    }

    private static func rejected(_ message: String, _ reason: String, _ count: UInt64 = 1) -> Row {
        (message, [], [reason: count])
    }

    /// Decoding time does not depend on the number.
    @Test func `An array position in a pointer may be any number`() {
        var decoder = FeedDecoder(format: FeedFormat(items: ["9223372036854775807"].map { Array($0.utf8) }))
        let isWithoutReadings = decoder.decode(Array("[[1],2]".utf8).span, receivedAt: 0).isWithoutReadings
        #expect(isWithoutReadings)
    }

    private static let all: [Row] = [
        ("[]", [], [:]),
        (#"[{"city":"Mumbai","aqi":183.2},{"city":"Pune","aqi":7}]"#, ["Mumbai 183.2", "Pune 7.0"], [:]),
        (#"{"city":"Pune","aqi":7}"#, ["Pune 7.0"], [:]),
        (#"[{"city":"Pune","aqi":30.0309},{"city":"Pune","aqi":31}]"#, ["Pune 31.0"], [:]),
        // Whole messages.
        rejected(#"[{"city":"Pune","aqi":7},]"#, "not_json"),
        rejected("7", "not_an_array"), rejected(#""Pune""#, "not_an_array"),
        // Elements.
        (#"[7,null,"Pune",[],{"city":"Pune","aqi":7}]"#, ["Pune 7.0"], ["not_an_object": 4]),
        rejected(#"[{"aqi":7},{}]"#, "no_city", 2), name("null", nil, "no_city"), name("7", "7"),
        name("18446744073709551615", "18446744073709551615"), name("7.5", nil, "bad_city"), name("-7.0", "-7"),
        name("true", nil, "bad_city"), name("[]", nil, "bad_city"), name(#""""#, nil, "bad_city"),
        name(#"" \t\n""#, nil, "bad_city"), name(#"" Pune\t""#, "Pune"), name(#""New  Delhi""#, "New  Delhi"),
        name(#""a\u0000b""#, nil, "bad_city"), name(#""a\nb""#, nil, "bad_city"), name(#""a\u007f""#, nil, "bad_city"),
        name(#""a\u0080""#, nil, "bad_city"), name(#""a\u009f""#, nil, "bad_city"), name(#""a\u00a0b""#, "a\u{A0}b"),
        name("\"\u{85}\"", nil, "bad_city"), name("\"\u{C2}\"", "Â"), name("\"Â\u{A0}x\"", "Â\u{A0}x"),
        name(#""\ufffd""#, "\u{FFFD}"), name(#""\ud83d\ude00""#, "😀"),
        name(#""O'Hare \"North\" \\""#, #"O'Hare "North" \"#),
        name("\"" + String(repeating: "x", count: 128) + "\"", String(repeating: "x", count: 128)),
        name("\"" + String(repeating: "x", count: 129) + "\"", nil, "bad_city"),
        name("\" " + String(repeating: "é", count: 64) + " \"", String(repeating: "é", count: 64)),
        name("\"" + String(repeating: "é", count: 64) + "x\"", nil, "bad_city"),
        // Values.
        value("0", "Pune 0.0"), value("-0", "Pune 0.0"), value("-0.0e5", "Pune 0.0"), value("9999", "Pune 9999.0"),
        value("190.77381882356204", "Pune 190.77381882356204"), value("1e2", "Pune 100.0"),
        value("9999.0001", nil, "out_of_range"), value("-1", nil, "out_of_range"),
        value("-1e-300", nil, "out_of_range"), value("12345678901234567890.5", nil, "out_of_range"),
        value("1e308", nil, "out_of_range"), value("\"1e999\"", nil, "out_of_range"),
        value("\"-1e999\"", nil, "out_of_range"), value("\"123456789012345678901234567890\"", nil, "out_of_range"),
        value("null", nil, "no_value"), value("\"\"", nil, "no_value"), value("\" \"", nil, "no_value"),
        value("\"-\"", nil, "no_value"), value("\"NA\"", nil, "no_value"), value("\"na\"", nil, "no_value"),
        value("\"N/A\"", nil, "no_value"), value("\" n/a \"", nil, "no_value"),
        value("\"12.5\"", "Pune 12.5"), value("\" 12\\t\"", "Pune 12.0"), value("\"-0\"", "Pune 0.0"),
        value("\"1,5\"", nil, "bad_value"), value("\"NAN/A\"", nil, "bad_value"),
        value("true", nil, "bad_value"), value("[]", nil, "bad_value"), value("{}", nil, "bad_value"),
        rejected(#"[{"city":"Pune"}]"#, "no_value"),
        value("\"--\"", nil, "no_value"),
        value("\"—\"", nil, "no_value"),
        value("\"−–\"", nil, "no_value"),
        value("\"N.A.\"", nil, "no_value"),
        value("\"nd\"", nil, "no_value"),
        value("\"NULL\"", nil, "no_value"),
        value("\"None\"", nil, "no_value"),
        value("\"NaN\"", nil, "no_value"),
        value("\"unknown\"", nil, "no_value"),
        value("\"Unavailable\"", nil, "no_value"),
        value("\" No Data \"", nil, "no_value"),
        value("\"offline\"", nil, "no_value"),
        value("\"no-data\"", nil, "bad_value"), value("\"off\"", nil, "bad_value"),
        // Blanks around a name, beyond ASCII's.
        name("\"\u{A0}Pune\u{200B}\"", "Pune"), name("\"\u{FEFF}\u{3000}Pune\u{2009}\u{2028} \"", "Pune"),
        name("\"\u{200B}\"", nil, "bad_city"), name("\"पुणे\"", "पुणे"), name("\"München–ß\"", "München–ß"),
        // The first reason that applies counts.
        (
            #"[{"city":7.5,"aqi":true},{"city":null,"aqi":-1},{"city":"x"}]"#, [],
            ["bad_city": 1, "no_city": 1, "no_value": 1]
        ),
    ]

    @Test(arguments: all) func `A message is decoded into readings and rejections`(_ row: Row) {
        var test = TestStore()
        test.receive(row.message)
        #expect(test.cities == row.cities)
        #expect(test.rejections == row.rejections)
        let feed = test.store.feeds[0]
        #expect(feed.messages == 1)
        #expect(feed.messagesWithoutReadings == (row.cities.isEmpty && row.rejections.isEmpty ? 1 : 0))
        #expect(feed.bytes == UInt64(row.message.utf8.count))
        #expect(feed.lastMessageAt == TestStore.start)
    }

    @Test func `Fields may be given as pointers into an element`() {
        let format = FeedFormat(
            cityField: "/station/name", valueField: "/iaqi/0/v", timeField: "/at/s", pollutantsField: "/iaqi/1",
            placeField: "/station")
        var test = TestStore(format: format)
        test.receive(
            #"""
            [{"station":{"name":"Pune","latitude":18.5},"iaqi":[{"v":7},{"pm10":3}],"at":{"s":1795236585}},
            {"station":{"name":"Delhi"},"iaqi":[]},{"station":"Surat","iaqi":[{"v":1}]}]
            """#)
        #expect(test.cities == ["Pune 7.0"] && test.concentrations(of: "Pune") == "pm10 3.0")
        #expect(test.rejections == ["no_value": 1, "no_city": 1])
        #expect(test.state(of: "Pune")?.updatedAt == 1_795_236_585_000)
    }

    @Test(
        arguments: [
            ("\"2026-11-21T04:49:45Z\"", 1_795_236_585_000, nil),
            ("\"2026-11-21T10:19:45.25+05:30\"", 1_795_236_585_250, nil),
            ("1795236585", 1_795_236_585_000, nil), ("1795236585.5", 1_795_236_585_500, nil),
            ("1795236585123", 1_795_236_585_123, nil), ("null", TestStore.start, nil),
            ("99999999999", nil, "bad_time"), ("1795236646", nil, "bad_time"), ("1795236645", 1_795_236_645_000, nil),
            ("\"2026-11-21T10:19:45+0530\"", 1_795_236_585_000, nil), ("\"1795236585\"", 1_795_236_585_000, nil),
            ("\" 1795236585123 \"", 1_795_236_585_123, nil), ("\"2026-11-21T04:49:45\"", TestStore.start, nil),
            ("\"2026-11-21 04:49:45.1\"", TestStore.start, nil), ("\"1999-12-31T23:59:59Z\"", nil, "bad_time"),
            ("946684799", nil, "bad_time"), ("946684800", 946_684_800_000, nil), ("0", nil, "bad_time"),
            ("\"2026-11-21T09:49:45+05\"", 1_795_236_585_000, nil),
            // The day first, RFC 9557, RFC 1123, a comma before the fraction.
            ("\"21-11-2026 04:49:45Z\"", 1_795_236_585_000, nil),
            ("\"21.11.2026 04:49+00:00\"", 1_795_236_540_000, nil),
            ("\"21-11-2026T10:19:45+05:30\"", 1_795_236_585_000, nil), ("\"21.11-2026 04:49:45Z\"", nil, "bad_time"),
            ("\"11-21-2026 04:49:45Z\"", nil, "bad_time"), ("\"21/11/2026 04:49:45Z\"", nil, "bad_time"),
            ("\"2026-11-21T10:19:45.25+05:30[Asia/Kolkata]\"", 1_795_236_585_250, nil),
            ("\"2026-11-21T04:49:45Z[UTC]\"", 1_795_236_585_000, nil),
            ("\"Sat, 21 Nov 2026 04:49:45 GMT\"", 1_795_236_585_000, nil),
            ("\"Sun, 1 Nov 2026 04:49:45 +0000\"", 1_793_508_585_000, nil),
            ("\"Sat, 21 Nov 2026 04:49:45\"", nil, "bad_time"),
            ("\"2026-11-21T04:49:45,252Z\"", 1_795_236_585_252, nil),
            ("\"\(String(repeating: "x", count: 100_000))\"", nil, "bad_time"),
            ("\"2026-11-21 10:19:45 +0530\"", 1_795_236_585_000, nil),
            ("\"2026-11-21 10:19:45.5  +05:30\"", 1_795_236_585_500, nil),
            ("\"2026-11-21T04:49Z\"", 1_795_236_540_000, nil), ("\"2026-11-21 10:19+0530\"", 1_795_236_540_000, nil),
            ("\"2026-11-21T04:49\"", TestStore.start, nil), ("\"20261121T044945Z\"", 1_795_236_585_000, nil),
            ("\"20261120T234945-0500\"", 1_795_236_585_000, nil),
            ("\"2026-11-21 04:49:45 UTC\"", 1_795_236_585_000, nil),
            ("\"2026-11-21 04:49:45.252 GMT\"", 1_795_236_585_252, nil),
            ("1795236585123456", 1_795_236_585_123, nil), ("\"1795236585123456\"", 1_795_236_585_123, nil),
            ("\"2026-11-21T04:49:45 IST\"", nil, "bad_time"), ("\"2026-11-21\"", nil, "bad_time"),
            ("\"2026-11-21T04:49:45+5\"", nil, "bad_time"), ("\"2026-11-21T04:49:45ZZZ\"", nil, "bad_time"),
            ("\"2026-11-21T04:4945Z\"", nil, "bad_time"), ("\" UTC\"", nil, "bad_time"),
            ("\"yesterday\"", nil, "bad_time"), ("\"+0530\"", nil, "bad_time"), ("\"\"", nil, "bad_time"),
            ("true", nil, "bad_time"), ("-1", nil, "bad_time"), ("1e300", nil, "bad_time"),
        ] as [(String, Timestamp?, String?)])
    func `A reading's time is parsed or rejected`(_ time: String, _ updatedAt: Timestamp?, _ reason: String?) {
        var test = TestStore(format: FeedFormat(timeField: "time"))
        test.receive(#"[{"city":"Pune","aqi":1,"time":\#(time)}]"#)
        #expect(test.state(of: "Pune")?.updatedAt == updatedAt)
        #expect(test.rejections == (reason.map { [$0: 1] } ?? [:]))
    }

    @Test func `The canonical element is read whole without a flag`() {
        var test = TestStore()
        test.receive(
            #"""
            [{"city":"Pune","aqi":51,"time":1795236580,"pollutants":{"PM2.5":12,"pm 10":"30","Ozone":7,"NO2":null,"x":1},
            "subindices":{"pm25":51},"place":{"lat":18.5,"lng":73.9,"country":"IN"}},{"city":"Delhi","aqi":7}]
            """#)
        #expect(test.state(of: "Pune")?.updatedAt == 1_795_236_580_000)
        #expect(test.concentrations(of: "Pune") == "pm2_5 12.0, pm10 30.0, o3 7.0")
        let place = test.state(of: "Pune")?.extras?.place
        #expect(place == CityPlace(country: Array("IN".utf8).span, latitude: 18.5, longitude: 73.9))
        #expect(test.state(of: "Pune")?.extras?.subIndices?.greatest == 0 && test.state(of: "Delhi")?.extras == nil)
        #expect(test.decoder.takeUnknownPollutants() == ["x"])
    }

    @Test(
        arguments: [
            (#"{"type":"Point","coordinates":[73.9,18.5,560]}"#, 18.5, 73.9),
            (#"{"lat":"18.5","lon":73.9}"#, 18.5, 73.9),
            (#"{"latitude":null,"lat":18.5,"coordinates":[1,2]}"#, 18.5, 1), (#"{"coordinates":[73.9]}"#, nil, 73.9),
            (#"{"lat":91,"longitude":-180}"#, nil, -180), (#"{"coordinates":{"0":1,"1":2}}"#, 2, 1),
        ] as [(String, Double?, Double?)])
    func `A place has coordinates by their usual names`(place: String, latitude: Double?, longitude: Double?) {
        var test = TestStore()
        test.receive(#"{"city":"Pune","aqi":51,"place":\#(place)}"#)
        let found = test.state(of: "Pune")?.extras?.place
        #expect(found?.latitude == latitude && found?.longitude == longitude)
    }

    @Test(arguments: [#""soon""#, "true", "[2026,11,21]", "1795999999", "1", #""1999-12-31T23:59:59Z""#])
    func `A default time that cannot be read is the arrival, one in a named field rejects the reading`(time: String) {
        for format in [FeedFormat(), FeedFormat(timeField: "time")] {
            var test = TestStore(format: format)
            let message = test.record(#"{"city":"Pune","aqi":51,"time":\#(time)}"#)
            #expect(message.hasUnreadableTimes == !format.time.isNamed)
            #expect(test.rejections == (format.time.isNamed ? ["bad_time": 1] : [:]))
            #expect(test.state(of: "Pune")?.updatedAt == (format.time.isNamed ? nil : TestStore.start))
        }
    }

    @Test func `An element without a value completes a city that exists, and counts nowhere`() {
        var test = TestStore(feeds: ["a", "b"])
        test.receive(#"[{"city":"Pune","aqi":51},{"city":"Pune","pollutants":{"pm10":3},"time":"soon"}]"#)
        test.receive(#"{"city":"Pune","aqi":"unknown","place":{"lat":18.5}}"#)
        #expect(
            test.concentrations(of: "Pune") == "pm10 3.0" && test.state(of: "Pune")?.extras?.place?.latitude == 18.5)
        test.receive(#"{"city":"Pune","pollutants":{"pm10":4}}"#)
        #expect(test.concentrations(of: "Pune") == "pm10 4.0")
        #expect(test.cities == ["Pune 51.0"] && test.rejections.isEmpty)
        #expect(test.store.feeds[0].readings == 1 && test.store.feeds[0].messagesWithoutReadings == 2)
        // For a new city, before its first reading or with nothing that can be used, there is no value.
        for message in [
            #"{"city":"Delhi","pollutants":{"pm10":3}}"#, #"{"city":"Pune","pollutants":{"pm10":-3}}"#,
            #"{"city":"Pune","place":7}"#, #"{"city":"Pune"}"#, #"{"city":"Pune","aqi":null,"time":1}"#,
            #"[{"city":"Goa","place":{"lat":1}},{"city":"Goa","aqi":2}]"#,
        ] { test.receive(message) }
        #expect(test.rejections == ["no_value": 6] && test.state(of: "Goa")?.extras == nil)
        test.receive(#"{"city":"Pune","aqi":"high","place":{"lat":1}}"#)
        #expect(test.rejections == ["no_value": 6, "bad_value": 1])
        #expect(test.state(of: "Pune")?.extras?.place?.latitude == 18.5)
    }

    @Test func `A time without a zone is in the configured one, or the message reports it`() {
        let message = Array(#"[{"city":"Pune","aqi":1,"time":"2026-11-21T10:19:45"}]"#.utf8)
        var configured = TestStore(format: FeedFormat(timeField: "time", timeZone: 19_800_000))
        configured.receive(message)
        #expect(configured.state(of: "Pune")?.updatedAt == 1_795_236_585_000)
        #expect(configured.decoder.decode(message.span, receivedAt: TestStore.start).hasTimesWithoutZone == false)
        var unconfigured = TestStore(format: FeedFormat(timeField: "time"))
        unconfigured.receive(message)
        #expect(unconfigured.cities == ["Pune 1.0"])
        #expect(unconfigured.decoder.decode(message.span, receivedAt: TestStore.start).hasTimesWithoutZone == true)
    }

    @Test func `A message with nothing at the pointer to its items is without readings`() throws {
        var test = TestStore(format: FeedFormat(items: try #require(jsonPointer("/data"))))
        for message in [#"{"type":"heartbeat"}"#, #"{"data":null}"#, #"{"data":[]}"#, "[]"] { test.receive(message) }
        #expect(test.rejections.isEmpty)
        #expect(test.store.feeds[0].messagesWithoutReadings == 4)
        test.receive(#"{"data":7}"#)
        #expect(test.rejections == ["not_an_array": 1])
    }

    @Test(
        arguments: [
            (#"{"Pune":51}"#, #"[{"city":"Pune","aqi":51}]"#, true, "Pune"), ("{}", "", true, "without readings"),
            ("{}", nil, true, "jq_error"), ("{}", "[7]", true, "not_an_object"),
            ("42[]", #"[{"city":"Pune","aqi":51}]"#, false, "Pune"), ("42[]", "", false, "without readings"),
            ("42[]", nil, false, "not_json"), ("{", "[7]", false, "not_an_object"),
            ("[NaN]", "", true, "without readings"),
            // Not given to the program.
            ("", "[7]", nil, "without readings"), (" \r\n\t\u{1E}", "[7]", nil, "without readings"),
            ("\u{FEFF}\n", "[7]", nil, "without readings"),
        ] as [(String, String?, Bool?, String)])
    func `A program turns a message into its elements, and gets one that is no JSON as a string`(
        message: String, results: String?, isJSON: Bool?, outcome: String
    ) {
        var decoder = FeedDecoder(format: FeedFormat())
        var given: Bool?
        let decoded = decoder.decode(Array(message.utf8).span, receivedAt: TestStore.start) {
            given = $1
            return results.map { Array($0.utf8) }
        }
        #expect(given == isJSON)
        let isWithout = decoded.isWithoutReadings ? ["without readings"] : []
        #expect(isWithout + decoded.rejections.reasons.map(\.rawValue) + decoded.accepted.map(\.city) == [outcome])
        #expect(decoded.byteCount == message.utf8.count)
    }

    @Test func `A program does not get a message that is not UTF-8, and gets null for numbers that JSON lacks`() {
        var decoder = FeedDecoder(format: FeedFormat())
        let bad = decoder.decode([0x5B, 0xFF, 0x5D].span, receivedAt: 0) { _, _ in Array("[7]".utf8) }
        #expect(bad.rejections[.notJSON] == 1 && bad.rejections[.notAnObject] == 0)
        var given = ""
        _ = decoder.decode(Array("[NaN, \"NaN\"]".utf8).span, receivedAt: 0) { message, _ in
            given = String(decoding: message.indices.map { message[$0] }, as: UTF8.self)
            return []
        }
        #expect(given == "[null, \"NaN\"]")
    }

    @Test(
        arguments: [
            (#"[{"city":"Pune","aqi":1,"x":NaN},{"city":"Goa","aqi":-Infinity}]"#, ["Pune 1.0"], ["no_value": 1]),
            (#"[{"city":"NaN, Infinity","aqi":1,"x":Infinity}]"#, ["NaN, Infinity 1.0"], [:]),
            (#"{"city":"A\"","aqi":1,"x":NaN} {"city":"B","aqi":NaN}"#, [#"A" 1.0"#], ["no_value": 1]),
            ("NaN", [], ["not_an_array": 1]), (#"[{"city":"Pune","aqi":1,"x":NaN},]"#, [], ["not_json": 1]),
            (#"[{"city":"Pune","aqi":1,"x":nan}]"#, [], ["not_json": 1]),
            (#"[{"city":"Pune","aqi":1,"x":-NaN}]"#, [], ["not_json": 1]), ("[NaN", [], ["not_json": 1]),
            ("1 1 1 1", [], ["not_an_array": 1]), (#"1 {"city":"Pune","aqi":1} 2"#, ["Pune 1.0"], ["not_an_array": 1]),
        ] as [(String, [String], [String: UInt64])])
    func `Words for numbers that JSON lacks are null, where a message is no JSON`(
        message: String, cities: [String], rejections: [String: UInt64]
    ) {
        var test = TestStore()
        test.receive(message)
        #expect(test.cities == cities)
        #expect(test.rejections == rejections)
    }

    @Test(arguments: ["", " ", "\n", "\u{FEFF}", "\r\n \t\u{1E}"])
    func `A blank message is without readings`(_ message: String) {
        var test = TestStore()
        test.receive(message)
        #expect(test.rejections.isEmpty)
        #expect(test.store.feeds[0].messagesWithoutReadings == 1)
    }

    @Test func `A reading older than the city's newest is rejected for its time, whatever else is wrong`() {
        var test = TestStore(format: FeedFormat(timeField: "time"))
        test.receive(#"[{"city":"Pune","aqi":1,"time":1795236580},{"city":"Pune","aqi":2,"time":1795236579}]"#)
        test.receive(#"[{"city":"Pune","aqi":-3,"time":1795236579},{"city":"Pune","aqi":-3,"time":1795236581}]"#)
        test.receive(#"[{"city":"Pune","aqi":4,"time":1795236580}]"#)
        #expect(test.cities == ["Pune 4.0"])
        #expect(test.rejections == ["bad_time": 2, "out_of_range": 1])
    }
}
