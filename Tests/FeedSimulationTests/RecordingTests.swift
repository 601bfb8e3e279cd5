import Testing

@testable import FeedSimulation

private func messages(_ recording: Recording) -> [String] {
    recording.messages.map { String(decoding: $0, as: UTF8.self) }
}

struct RecordingTests {
    @Test(
        arguments: [
            (
                "two dates", "City,Date,AQI\nDelhi,2019-10-01,98\nPune,2019-10-01,54.5\nDelhi,2019-10-02,101\n",
                [#"[{"city":"Delhi","aqi":98},{"city":"Pune","aqi":54.5}]"#, #"[{"city":"Delhi","aqi":101}]"#]
            ),
            (
                "columns in another order, others between", "AQI,PM2.5,Date,City,AQI_Bucket\n1.0,7,2020-01-01,A,Good\n",
                [#"[{"city":"A","aqi":1.0}]"#]
            ),
            (
                "byte order mark, CRLF, no line end at the end",
                "\u{FEFF}City,Date,AQI\r\nA,2020-01-01,1\r\nB,2020-01-01,2",
                [#"[{"city":"A","aqi":1},{"city":"B","aqi":2}]"#]
            ),
            (
                "dates ascend, rows of a date keep their order",
                "City,Date,AQI\nB,2020-02-01,4\nA,2020-02-01,5\nB,2020-01-31,2\nA,2019-12-31,1\nC,2020-02-01,6\n",
                [
                    #"[{"city":"A","aqi":1}]"#, #"[{"city":"B","aqi":2}]"#,
                    #"[{"city":"B","aqi":4},{"city":"A","aqi":5},{"city":"C","aqi":6}]"#,
                ]
            ),
            (
                "no index, no city", "City,Date,AQI\nA,2020-01-01,\nB,2020-01-01,2\nC,2020-01-01,NA\nA,2020-01-02,\n",
                [#"[{"city":"B","aqi":2}]"#, "[]"]
            ),
            (
                "quotation marks and commas in fields",
                "\"City\",Date,AQI\n\"A, \"\"B\"\"\",2020-01-01,\"7\"\n\"\"\"\",2020-01-01,8\n",
                [#"[{"city":"A, \"B\"","aqi":7},{"city":"\"","aqi":8}]"#]
            ),
            ("blank lines", "City,Date,AQI\n\nA,2020-01-01,1\r\n\r\n\n", [#"[{"city":"A","aqi":1}]"#]),
            (
                "other scripts, and what JSON escapes", "City,Date,AQI\nदिल्ली,2020-01-01,1\nA\\B\tC,2020-01-01,-1e-3\n",
                [#"[{"city":"दिल्ली","aqi":1},{"city":"A\\B\u0009C","aqi":-1e-3}]"#]
            ),
            (
                "same city twice", "City,Date,AQI\nA,2020-01-01,1\nA,2020-01-01,2\n",
                [#"[{"city":"A","aqi":1},{"city":"A","aqi":2}]"#]
            ),
        ] as [(String, String, [String])])
    func `CSV becomes one message per date`(name: String, content: String, expected: [String]) throws {
        let recording = try Recording(Array(content.utf8))
        #expect(messages(recording) == expected)
        #expect(!recording.isTimed)
        #expect(recording.messages.indices.allSatisfy { recording.gap(before: $0) == nil })
    }

    /// A file, its messages and the milliseconds before each.
    @Test(
        arguments: [
            (
                "recorded messages",
                #"""
                {"time_ms":1000,"message":"[{\"city\":\"Pune\",\"aqi\":1}]"}
                {"time_ms":3500,"message":"no JSON at all"}
                {"message":"दि\u20ac\ud83d\ude00\\\n","time_ms":3400}

                """#, [#"[{"city":"Pune","aqi":1}]"#, "no JSON at all", "दि€😀\\\n"], [nil, 2500, 0]
            ),
            (
                "plain messages", " [{\"city\":\"A\",\"aqi\":1}] \r\n\n[]\n{\"city\":\"B\",\"aqi\":2}",
                [" [{\"city\":\"A\",\"aqi\":1}] \r", "[]", #"{"city":"B","aqi":2}"#], [nil, nil, nil]
            ),
            (
                "some of each", "[1]\n{\"time_ms\":5,\"message\":\"\"}\n{\"time_ms\":9,\"message\":\"x\"}\n[2]\n",
                ["[1]", "", "x", "[2]"], [nil, nil, 4, nil]
            ),
            (
                "a plain message may have a member called message", #"{"city":"A","aqi":1,"message":7}"#,
                [#"{"city":"A","aqi":1,"message":7}"#], [nil]
            ),
            (
                "which may be a text", #"{"time_ms":5,"city":"A","aqi":1,"message":"Good"}"#,
                [#"{"time_ms":5,"city":"A","aqi":1,"message":"Good"}"#], [nil]
            ),
            (
                "also in a greeting, without a time", "{\"type\":\"hello\",\"message\":\"hi\"}\n{\"message\":\"x\"}",
                [#"{"type":"hello","message":"hi"}"#, #"{"message":"x"}"#], [nil, nil]
            ),
        ] as [(String, String, [String], [Int?])])
    func `Each line of JSON is one message`(name: String, content: String, expected: [String], gaps: [Int?]) throws {
        let recording = try Recording(Array(content.utf8))
        #expect(messages(recording) == expected)
        #expect(recording.cutOffLines == [])
        let gaps = gaps.map { $0.map { Duration.milliseconds($0) } }
        #expect(recording.messages.indices.map { recording.gap(before: $0) } == gaps)
    }

    @Test func `Recorded messages are replayed unchanged`() throws {
        let messages: [(Int64, String)] = [
            (1_795_236_585_252, #"[{"city":"Mumbai","aqi":179.48953967731958}]"#), (1_795_236_585_252, ""),
            (1_795_236_587_252, "\"\\/\u{0}\u{1F}\u{7F}\r\n\t\u{2028}😀"), (1_795_236_588_252, "दिल्ली"),
        ]
        var file: [UInt8] = []
        for (time, message) in messages {
            #expect(appendRecordedLine(at: time, message: message.utf8.span, to: &file))
        }
        #expect(
            String(decoding: file, as: UTF8.self).hasPrefix(
                #"{"time_ms":1795236585252,"message":"[{\"city\":\"Mumbai\",\"aqi\":179.48953967731958}]"}"# + "\n"))
        let recording = try Recording(file)
        #expect(recording.messages == messages.map { Array($0.1.utf8) })
        #expect((1..<4).map { recording.gap(before: $0) } == [.zero, .seconds(2), .seconds(1)])
        #expect(recording.isTimed)
    }

    @Test func `A message that is not UTF-8 is not recorded`() {
        var file: [UInt8] = [1]
        #expect(!appendRecordedLine(at: 1, message: ([0x5B, 0xFF] as [UInt8]).span, to: &file))
        #expect(file == [1])
    }

    @Test func `A recording that is cut off at any byte is replayed up to the last whole line`() throws {
        var file: [UInt8] = []
        for time in 1...3 as ClosedRange<Int64> {
            _ = appendRecordedLine(at: time, message: "[\(time)]".utf8.span, to: &file)
        }
        let lineLength = file.count / 3
        for count in lineLength...file.count {
            let recording = try Recording(Array(file[..<count]))
            // A line that lacks only its line break is whole.
            let whole = (count + 1) / lineLength
            #expect(recording.messages.count == whole)
            #expect(
                recording.cutOffLines
                    == (count == whole * lineLength || count + 1 == whole * lineLength ? [] : [whole + 1]))
            // `record` continues after it.
            guard count > whole * lineLength else { continue }
            #expect(try Recording(Array(file[..<count]) + Array("\n[4]\n".utf8)).messages.count == whole + 1)
        }
    }
}

struct RecordingErrorTests {
    private static func wrongRow(_ row: String) -> String {
        "City, Date and AQI are \"\(row)\", expected a name in UTF-8, a date such as 2019-10-01 and a number, NA or nothing"
    }

    @Test(arguments: [
        ("", 1, "the file is empty, expected CSV with a header, or lines of JSON"),
        (" \n\n", 1, "the file is empty, expected CSV with a header, or lines of JSON"),
        ("City,Date,AQI\n", 1, "there are no rows, expected at least one"),
        ("City,Date,PM10\nA,2020-01-01,1\n", 1, "there is no column AQI, expected a header with City,Date,AQI"),
        ("City,Date,AQI\nA,2020-01-01\n", 2, "the row has 2 fields, expected 3"),
        ("City,Date,AQI\nA,2020-01-01,1,2\n", 2, "the row has 4 fields, expected 3"),
        ("City,Date,AQI\nA,2020-01-01,x\n", 2, wrongRow("A,2020-01-01,x")),
        ("City,Date,AQI\nA,2020-01-01,1e400\n", 2, wrongRow("A,2020-01-01,1e400")),
        ("City,Date,AQI\nA,2020-01-01,007\n", 2, wrongRow("A,2020-01-01,007")),
        ("City,Date,AQI\n,2020-01-01,1\n", 2, wrongRow(",2020-01-01,1")),
        ("City,Date,AQI\nA,01/02/20,1\n", 2, wrongRow("A,01/02/20,1")),
        ("City,Date,AQI\nA,2020-13-01,1\n", 2, wrongRow("A,2020-13-01,1")),
        ("City,Date,AQI\nA,2020-01-00,1\n", 2, wrongRow("A,2020-01-00,1")),
        ("City,Date,AQI\n\nB,2020-01-01,1\nA,2020-01-01,0x10\n", 4, wrongRow("A,2020-01-01,0x10")),
        ("City,Date,AQI\nA\"B,2020-01-01,1\n", 2, "a quotation mark is not closed on the line"),
        ("[1\n[2]\n", 1, #""[1" is not a message, expected a JSON array or object"#),
        ("[1]\nhello\n[2]\n", 2, #""hello" is not a message, expected a JSON array or object"#),
        ("[1]\n\u{1B}[0m\n", 2, #""\u{1B}[0m" is not a message, expected a JSON array or object"#),
        ("[1]\n5\n", 2, #""5" is not a message, expected a JSON array or object"#),
        (#"{"time_ms":1.5,"message":"x"}"#, 1, "time_ms is wrong, expected epoch milliseconds"),
        (#"{"time_ms":-1,"message":"x"}"#, 1, "time_ms is wrong, expected epoch milliseconds"),
        (#"{"time_ms":1,"message":"\ud800"}"#, 1, "there are no rows, expected at least one"),
    ]) func `An invalid file is rejected with the line and the reason`(content: String, line: Int, reason: String) {
        let error = #expect(throws: RecordingError.self) { try Recording(Array(content.utf8)) }
        #expect(error == RecordingError(line: line, reason))
    }

    @Test func `A city that is not UTF-8 is rejected`() {
        let bytes = Array("City,Date,AQI\nA".utf8) + [0xFF] + Array(",2020-01-01,1\n".utf8)
        let error = #expect(throws: RecordingError.self) { try Recording(bytes) }
        #expect(error == RecordingError(line: 2, Self.wrongRow("A\u{FFFD},2020-01-01,1")))
    }
}
