import TestSupport
import Testing

@testable import JSON

/// What a reader finds, in a form that can be compared and read.
enum Found: Equatable, CustomStringConvertible {
    case notJSON, notAnArray, nothing
    case records([[String]])

    var description: String {
        switch self {
        case .notJSON: "not JSON"
        case .notAnArray: "not an array"
        case .nothing: "nothing"
        case .records(let records): "\(records)"
        }
    }

    static func read(_ message: [UInt8], items: String = "", members: [String] = ["city", "aqi"]) -> Found {
        var reader = JSONRecordReader(items: jsonPointer(items)!, members: members)
        return read(message, members.count, with: &reader)
    }

    static func read(_ message: [UInt8], _ memberCount: Int, with reader: inout JSONRecordReader) -> Found {
        switch reader.read(message.span) {
        case .notJSON: return .notJSON
        case .notAnArray: return .notAnArray
        case .nothing: return .nothing
        case .records: break
        }
        var records: [[String]] = []
        while true {
            let count = reader.nextRecords()
            guard count > 0 else { return .records(records) }
            for record in 0..<count {
                records.append((0..<memberCount).map { describe(reader.value(record: record, member: $0), reader) })
            }
        }
    }

    private static func describe(_ value: JSONValue, _ reader: borrowing JSONRecordReader) -> String {
        switch value {
        case .absent: return "absent"
        case .null: return "null"
        case .other: return "other"
        case .object: return "object"
        case .notAnObject: return "no object"
        case .number(let number): return "\(number)"
        case .text(let range):
            var bytes: [UInt8] = []
            reader.withTexts { texts in
                for index in range { bytes.append(texts[index]) }
            }
            #expect(String(validating: bytes, as: UTF8.self) != nil, "\(bytes)")
            return "'" + String(decoding: bytes, as: UTF8.self) + "'"
        }
    }
}

struct MessageCase: Sendable, CustomTestStringConvertible {
    var name: String
    var message: [UInt8]
    var found: Found
    var items = ""

    var testDescription: String { name }

    init(_ name: String, _ message: String, _ found: Found, items: String = "") {
        self.init(name, Array(message.utf8), found, items: items)
    }

    init(_ name: String, _ message: [UInt8], _ found: Found, items: String = "") {
        self.name = name
        self.message = message
        self.found = found
        self.items = items
    }

    static let all: [MessageCase] =
        [
            MessageCase("empty array", "[]", .records([])),
            MessageCase(
                "the feed's own shape", #"[{"city":"Mumbai","aqi":179.48953967731958},{"city":"Pune","aqi":222}]"#,
                .records([["'Mumbai'", "179.48953967731958"], ["'Pune'", "222.0"]])),
            MessageCase(
                "blanks behind commas and colons", #"[{"city": "Pune", "aqi": 1}, {"city": "Delhi", "aqi": 2}]"#,
                .records([["'Pune'", "1.0"], ["'Delhi'", "2.0"]])),
            MessageCase(
                "white space everywhere", " [ { \"city\"\t:\r\n\"Pune\" , \"aqi\" : 1 } ] \n",
                .records([["'Pune'", "1.0"]])),
            MessageCase("members in another order", #"[{"aqi":1,"city":"Pune"}]"#, .records([["'Pune'", "1.0"]])),
            MessageCase(
                "unknown members", #"[{"id":[1,{"a":null}],"city":"Pune","x":"y","aqi":1,"t":true}]"#,
                .records([["'Pune'", "1.0"]])),
            MessageCase(
                "a member is missing", #"[{"city":"Pune"},{"aqi":1},{}]"#,
                .records([["'Pune'", "absent"], ["absent", "1.0"], ["absent", "absent"]])),
            MessageCase(
                "the last of two counts", #"[{"city":"Pune","aqi":1,"city":"Delhi"}]"#, .records([["'Delhi'", "1.0"]])),
            MessageCase(
                "null, truth, nested", #"[{"city":null,"aqi":true},{"city":[],"aqi":{}}]"#,
                .records([["null", "other"], ["other", "other"]])),
            MessageCase(
                "elements that are no objects", #"[1,"a",null,[],{"city":"Pune"}]"#,
                .records(Array(repeating: ["no object", "no object"], count: 4) + [["'Pune'", "absent"]])),
            MessageCase("one object", #"{"city":"Pune","aqi":1}"#, .records([["'Pune'", "1.0"]])),
            MessageCase("a string", #""Pune""#, .notAnArray),
            MessageCase("a number", "7", .notAnArray),
            MessageCase("null", "null", .notAnArray),
            MessageCase("value as text", #"[{"city":"Pune","aqi":"12.5"}]"#, .records([["'Pune'", "'12.5'"]])),
            // Strings.
            MessageCase(
                "escapes", #"[{"city":"a\"b\\c\/d\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00","aqi":1}]"#,
                .records([["'a\"b\\c/d\u{8}\u{c}\n\r\tAé€😀'", "1.0"]])),
            MessageCase("escaped member name", #"[{"\u0063ity":"Pune","aqi":1}]"#, .records([["'Pune'", "1.0"]])),
            MessageCase(
                "other alphabets", #"[{"city":"मुंबई","aqi":1},{"city":"القاهرة","aqi":2},{"city":"😀","aqi":3}]"#,
                .records([["'मुंबई'", "1.0"], ["'القاهرة'", "2.0"], ["'😀'", "3.0"]])),
            MessageCase(
                "empty and blank names", #"[{"city":"","aqi":1},{"city":" Pune ","aqi":1}]"#,
                .records([["''", "1.0"], ["' Pune '", "1.0"]])),
            MessageCase(
                "names around the word length", #"[{"city":"1234567"},{"city":"12345678"},{"city":"123456789"}]"#,
                .records([["'1234567'", "absent"], ["'12345678'", "absent"], ["'123456789'", "absent"]])),
            MessageCase("DEL in a name", "[{\"city\":\"a\u{7F}b\",\"aqi\":1}]", .records([["'a\u{7F}b'", "1.0"]])),
            // Half of a surrogate pair has no UTF-8.
            MessageCase("lone leading surrogate", #"[{"city":"a\ud800b","aqi":1}]"#, .notJSON),
            MessageCase("lone trailing surrogate", #"[{"city":"\udc00","aqi":1}]"#, .notJSON),
            MessageCase("leading surrogate, then an escape", #"[{"city":"\ud800\n","aqi":1}]"#, .notJSON),
            MessageCase("two leading surrogates", #"[{"city":"\ud83d\ud83d\ude00","aqi":1}]"#, .notJSON),
            MessageCase("lone surrogate where nobody looks", #"[{"x":"\udfff","city":"Pune"}]"#, .notJSON),
            MessageCase("lone surrogate in a member's name", #"[{"\udfff":1,"city":"Pune"}]"#, .notJSON),
            MessageCase("NUL by escape", #"[{"city":"a\u0000","aqi":1}]"#, .records([["'a\u{0}'", "1.0"]])),
            // Numbers.
            MessageCase(
                "numbers",
                "[{\"aqi\":0},{\"aqi\":-0},{\"aqi\":1e2},{\"aqi\":1E+2},{\"aqi\":12.5e-1},{\"aqi\":0.000001}]",
                .records([
                    ["absent", "0.0"], ["absent", "0.0"], ["absent", "100.0"], ["absent", "100.0"], ["absent", "1.25"],
                    ["absent", "1e-06"],
                ])),
            MessageCase(
                "tiny numbers", #"[{"aqi":1e-999},{"aqi":5e-324}]"#,
                .records([["absent", "0.0"], ["absent", "5e-324"]])),
            MessageCase(
                "integers of 64 bits", #"[{"aqi":-9223372036854775808},{"aqi":18446744073709551615}]"#,
                .records([["absent", "-9.223372036854776e+18"], ["absent", "1.8446744073709552e+19"]])),
            MessageCase(
                "many digits", #"[{"aqi":0.1234567890123456789012345},{"aqi":123456789012345678901234567890.5}]"#,
                .records([["absent", "0.12345678901234568"], ["absent", "1.2345678901234568e+29"]])),
            // No double can hold the one; simdjson takes no integer like the other.
            MessageCase("a number beyond the range", #"[{"aqi":1},{"aqi":1e999}]"#, .notJSON),
            MessageCase("an integer of thirty digits", #"[{"aqi":123456789012345678901234567890}]"#, .notJSON),
            MessageCase(
                "an integer beyond 64 bits where nobody looks",
                #"[{"city":"Pune","aqi":1,"x":{"y":[18446744073709551616]}}]"#, .notJSON),
            MessageCase("an integer below 64 bits", #"[{"aqi":1},{"x":-9223372036854775809}]"#, .notJSON),
            // Where the array is.
            MessageCase(
                "items in an object", #"{"data":{"cities":[{"city":"Pune","aqi":1}]},"x":[1]}"#,
                .records([["'Pune'", "1.0"]]), items: "/data/cities"),
            MessageCase("items in an array", #"[0,[{"city":"Pune"}]]"#, .records([["'Pune'", "absent"]]), items: "/1"),
            MessageCase("items are missing", #"{"data":{}}"#, .nothing, items: "/data/cities"),
            MessageCase("items are a number", #"{"data":1}"#, .notAnArray, items: "/data"),
            MessageCase(
                "items with an escaped pointer", #"{"a/b":{"~":[{"city":"Pune"}]}}"#,
                .records([["'Pune'", "absent"]]), items: "/a~1b/~0"),
            MessageCase(
                "items twice, the last counts", #"{"d":[{"city":"A"}],"d":[{"city":"B"}]}"#,
                .records([["'B'", "absent"]]), items: "/d"),
            MessageCase("items twice, the last is no array", #"{"d":[{"city":"A"}],"d":1}"#, .notAnArray, items: "/d"),
            MessageCase("rubbish behind the items", #"{"d":[{"city":"A"}],"x":01}"#, .notJSON, items: "/d"),
        ] + invalid.map { MessageCase("invalid: \($0)", $0, .notJSON) }
        + invalidUTF8.map {
            MessageCase(
                "invalid UTF-8: \($0)", Array("[{\"city\":\"".utf8) + $0 + Array("\",\"aqi\":1}]".utf8), .notJSON)
        }

    /// None of these is JSON by RFC 8259.
    static let invalid = [
        "", " ", "[", "]", "{", "}", "[,]", "[1,]", "[1 2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{1:1}",
        "[1]]", "[][]", "[],[]", "[] [", "[]x", "nul", "nulll", "True", "[01]", "[-01]", "[+1]", "[.5]", "[5.]", "[1e]",
        "[1e+]", "[-]",
        "[0x10]", "[1_000]", "[NaN]", "[Infinity]", "[-Infinity]", "['a']", "[\"a]", "[\"\\x41\"]", "[\"\\u12\"]",
        "[\"\\u12g4\"]", "[\"\\\"]", "[\"a\nb\"]", "[\"a\tb\"]", "[\"\u{0}\"]", "[1]\u{0}", "[1]\u{FEFF}", "[1]//x",
        "[/*x*/1]", "[{\"city\":\"Pune\" \"aqi\":1}]", "[{\"city\":\"Pune\",\"aqi\":1}",
        "[{\"city\":\"Pune\",\"aqi\":1]",
        "[{\"city\":\"Pune\",\"aqi\":1}}", "[{\"city\":\"Pune\",\"aqi\":1},]", "[{\"city\":\"Pune\",\"aqi\":1},,{}]",
        "[{\"city\":\"Pune\",\"aqi\":1.}]", "[{\"city\":\"Pune\",\"aqi\":01}]", "[{\"city\":\"Pune\",\"aqi\":--1}]",
        "[{\"city\":\"Pu\u{1}ne\",\"aqi\":1}]", "[{\"city\":\"Pune\",\"x\":01,\"aqi\":1}]",
    ]

    /// Table 3-7 of the Unicode standard, its edges.
    static let invalidUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xFE], [0xFF], [0xFF, 0xFF],
    ]
}

@Suite("Messages") struct JSONRecordReaderTests {
    @Test("are read or rejected", arguments: MessageCase.all) func reads(_ scenario: MessageCase) {
        #expect(Found.read(scenario.message, items: scenario.items) == scenario.found)
    }

    @Test("cut off anywhere are rejected") func refusesPrefixes() {
        let message = Array(#"[{"city":"Pune é","aqi":12.5},{"city":"a\u0041","aqi":"3"}]"#.utf8)
        for count in 0..<message.count { #expect(Found.read(Array(message[..<count])) == .notJSON) }
    }

    @Test("may be nested to the limit and no deeper", arguments: ["[", "{\"a\":"])
    func limitsDepth(_ opening: String) {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)).utf8)
        }
        #expect(Found.read(nested(JSONRecordReader.maximumDepth)) != .notJSON)
        #expect(Found.read(nested(JSONRecordReader.maximumDepth + 1)) == .notJSON)
        #expect(Found.read(nested(1_000_000)) == .notJSON)
    }

    @Test("have members of any names") func memberNames() {
        let message = Array(#"[{"a long city name":"Pune","another long name":7,"t":8,"":9,"é":10}]"#.utf8)
        let members = ["a long city name", "another long name", "t", "", "é", "a long city namf"]
        #expect(Found.read(message, members: members) == .records([["'Pune'", "7.0", "8.0", "9.0", "10.0", "absent"]]))
        #expect(Found.read(message, members: ["t"]) == .records([["8.0"]]))
    }

    @Test(
        "have members that pointers lead to",
        arguments: [
            (#"{"data":{"aqi":5,"city":"Pune"},"n":1}"#, ["'Pune'", "5.0", "object", "5.0", "1.0"]),
            (#"{"n":1,"data":{"city":["a"]}}"#, ["other", "absent", "object", "absent", "1.0"]),
            (#"{"data":[{"city":"Pune"}]}"#, ["absent", "absent", "other", "0.0", "absent"]),
            (#"{"data":{"aqi":5},"data":{"city":"A"}}"#, ["'A'", "absent", "object", "absent", "absent"]),
            (#"{"data":{"aqi":5},"data":7}"#, ["absent", "absent", "7.0", "0.0", "absent"]),
            (#"{"data":{"aqi":{"":1}}}"#, ["absent", "other", "object", "other", "absent"]),
            ("7", ["no object", "no object", "no object", "0.0", "no object"]),
        ])
    func pointers(_ element: String, _ found: [String]) {
        let members = ["/data/city", "/data/aqi", "data", "/n"]
        for count in [1, 200] {
            var reader = JSONRecordReader(members: members, objects: [JSONObjectMember(member: 2, names: ["aqi"])])
            let message = "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
            guard case .records(let records) = Found.read(Array(message.utf8), 5, with: &reader) else {
                Issue.record("\(element)")
                return
            }
            // The object's member stands behind the members, and means something only if there is an object.
            let expected = [found[0], found[1], found[2], found[4]] + (found[2] == "object" ? [found[3]] : [])
            #expect(records.count == count && records.allSatisfy { Array($0.prefix(expected.count)) == expected })
        }
        #expect(
            Found.read(Array(#"[{"a/b":{"~":[0,7]}}]"#.utf8), members: ["/a~1b/~0/1", "/a~1b/~0/01", "/"])
                == .records([["7.0", "absent", "absent"]]))
    }

    @Test(
        "of several JSON texts count as an array of all",
        arguments: [
            ("[1] [2,3]", 3), ("{} {}", 2), ("{}\n{}\n", 2), ("\u{1E}{}\n\u{1E}[{},{}]\n", 3), ("1 2 \"a b\" null", 4),
            ("[] []", 0), ("\u{FEFF}[{}]", 1), ("\u{FEFF}{} {}", 2), ("\u{1E}{}", 1), (" {} ", 1),
        ])
    func severalTexts(_ message: String, _ count: Int) {
        guard case .records(let records) = Found.read(Array(message.utf8)) else {
            Issue.record("\(message)")
            return
        }
        #expect(records.count == count)
    }

    @Test(
        "have their items in each of several JSON texts, or nowhere",
        arguments: [
            (#"{"data":[{"city":"A"}]} {"ping":1} {"data":{"city":"B"}}"#, ["'A'", "'B'"]),
            (#"{"ping":1}"#, nil), (#"{"data":null}"#, nil), ("{} []", nil),
        ] as [(String, [String]?)])
    func itemsOfTexts(_ message: String, _ cities: [String]?) {
        let found = Found.read(Array(message.utf8), items: "/data")
        #expect(found == cities.map { .records($0.map { [$0, "absent"] }) } ?? .nothing)
    }

    @Test("that are rows are read by pointers alone") func rows() {
        let rows = Array(#"[["Delhi",301],["Pune"],7]"#.utf8)
        #expect(
            Found.read(rows, members: ["/0", "/1"])
                == .records([["'Delhi'", "301.0"], ["'Pune'", "absent"], ["no object", "no object"]]))
        #expect(
            Found.read(rows, members: ["0", "1"]) == .records(Array(repeating: ["no object", "no object"], count: 3)))
    }

    @Test(
        "say the digits of whole numbers",
        arguments: [
            ("7", "7"), ("-7", "-7"), ("18446744073709551615", "18446744073709551615"), ("0", "0"), ("7.0", "7"),
            ("-9223372036854775808", "-9223372036854775808"), ("7e2", "700"), ("7.5", nil), ("1e300", nil),
            ("\"7\"", nil),
        ] as [(String, String?)])
    func wholeNumbers(_ number: String, _ digits: String?) {
        var reader = JSONRecordReader(members: ["city"])
        #expect(reader.read(Array("[{\"city\":\(number)}]".utf8).span) == .records)
        #expect(reader.nextRecords() == 1)
        let found = reader.wholeNumber(record: 0, member: 0).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == digits)
    }

    @Test(
        "have the members of an object that is opened",
        arguments: [
            (#"{"city":"Pune","air":{"pm10":7,"dust":1,"no2":"3","":null}}"#, ["object", "7.0", "'3'"], ["dust", ""]),
            (#"{"city":"Pune","air":{}}"#, ["object", "absent", "absent"], []),
            (#"{"city":"Pune","air":{"pm10":null,"no2":{"pm10":1,"x":2}}}"#, ["object", "null", "other"], []),
            (#"{"air":{"pm10":[],"no2":true},"city":"Pune"}"#, ["object", "other", "other"], []),
            (#"{"city":"Pune","air":{"pm10":7,"pm10":8}}"#, ["object", "8.0", "absent"], []),
            (#"{"city":"P","air":{"no2":1,"a":1},"air":{"pm10":8,"b":1}}"#, ["object", "8.0", "absent"], ["a", "b"]),
            (#"{"city":"Pune","air":{"\u0070m10":8,"\u00e9":1}}"#, ["object", "8.0", "absent"], ["é"]),
            (#"{"city":{"pm10":1,"y":1},"air":{"no2":2}}"#, ["object", "absent", "2.0"], []),
            (#"{"city":"Pune","air":{"pm10":7},"air":5}"#, ["5.0"], []), (#"{"city":"Pune"}"#, ["absent"], []),
            (#"{"city":"Pune","air":null}"#, ["null"], []), (#"{"city":"Pune","air":[1]}"#, ["other"], []),
            (#"{"city":"Pune","air":"x"}"#, ["'x'"], []), ("7", ["no object"], []),
        ] as [(String, [String], [String])])
    func openedObjects(_ element: String, _ found: [String], _ unknown: [String]) {
        var reader = JSONRecordReader(
            members: ["city", "air"], objects: [JSONObjectMember(member: 1, names: ["pm10", "no2"])])
        // One reader for several messages: nothing may be left of the one before, whose objects say more.
        let full = #"{"city":"A","air":{"pm10":1,"no2":2,"before":3}}"#
        for count in [1, 200] {
            let message = "[" + String(repeating: full + ",", count: count) + element + "]"
            let outcome = Found.read(Array(message.utf8), 4, with: &reader)
            guard case .records(let records) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(records.count == count + 1)
            #expect(records[0] == ["'A'", "object", "1.0", "2.0"])
            #expect(records.last.map { Array($0[1..<1 + found.count]) } == found)
            #expect(names(reader) == ["before"] + unknown)
        }
        #expect(Found.read(Array(element.utf8), 4, with: &reader) != .notJSON)
        #expect(names(reader) == unknown)
        #expect(Found.read(Array("[".utf8), 4, with: &reader) == .notJSON)
        #expect(names(reader).isEmpty)
    }

    @Test("name sixteen unknown members of opened objects at most, each once") func unknownMembers() {
        var reader = JSONRecordReader(members: ["air"], objects: [JSONObjectMember(member: 0, names: ["pm10"])])
        let object = "{" + (0..<100).map { #""x\#($0)":\#($0)"# }.joined(separator: ",") + "}"
        let message = #"[{"air":\#(object)},{"air":\#(object)}]"#
        #expect(Found.read(Array(message.utf8), 2, with: &reader) != .notJSON)
        #expect(names(reader) == (0..<16).map { "x\($0)" })
    }

    private func names(_ reader: borrowing JSONRecordReader) -> [String] {
        reader.unknownInnerMembers.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("full of escapes have room for all of them") func manyEscapes() {
        let element = #"{"city":"\n\u0041\u00e9\\","aqi":1}"#
        let message = "[" + Array(repeating: element, count: 1000).joined(separator: ",") + "]"
        #expect(Found.read(Array(message.utf8)) == .records(Array(repeating: ["'\nAé\\'", "1.0"], count: 1000)))
    }

    /// Records come some at a time; buffers grow, and shrink again.
    @Test("of any size are read one after the other by one reader") func manySizes() {
        var reader = JSONRecordReader(members: ["city", "aqi"])
        for count in [1, 127, 128, 129, 0, 256, 3, 50_000, 2, 1000] {
            let elements = (0..<count).map { #"{"city":"City \#($0)","aqi":\#($0)}"# }
            let message = Array("[\(elements.joined(separator: ","))]".utf8)
            #expect(
                Found.read(message, 2, with: &reader)
                    == .records((0..<count).map { ["'City \($0)'", "\(Double($0))"] }))
            expectNoMore(&reader)
            #expect(Found.read(Array(message.dropLast()), 2, with: &reader) == .notJSON)
            expectNoMore(&reader)
            #expect(Found.read(Array("7".utf8), 2, with: &reader) == .notAnArray)
            expectNoMore(&reader)
        }
    }

    private func expectNoMore(_ reader: inout JSONRecordReader) {
        let count = reader.nextRecords()
        #expect(count == 0)
    }

    /// Plain and escaped characters of every kind at every place of the bytes that are read at once.
    @Test("have the texts that were written, however they were", arguments: [1, 2, 3, 4] as [UInt64])
    func texts(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var reader = JSONRecordReader(members: ["city", "aqi"])
        let scalars: [Unicode.Scalar] = [
            "a", "Z", " ", "~", "/", "\"", "\\", "\n", "\0", "\u{1F}", "\u{7F}", "\u{80}", "\u{9F}", "\u{A0}",
            "\u{BF}", "é", "\u{7FF}", "\u{800}", "ก", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "😷", "\u{10FFFF}",
        ]
        for _ in 0..<5000 {
            var (text, written) = ("", "")
            let escapes = Int.random(in: 0...3, using: &random)
            for _ in 0..<Int.random(in: 0...80, using: &random) {
                let isUsual = Int.random(in: 0...2, using: &random) > 0
                let scalar = isUsual ? "b" : scalars.randomElement(using: &random) ?? "b"
                text.unicodeScalars.append(scalar)
                let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                if mustEscape || Int.random(in: 0..<9, using: &random) < escapes {
                    for unit in UTF16.encode(scalar) ?? .init() {
                        let digits = String(unit, radix: 16)
                        written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                } else {
                    written.unicodeScalars.append(scalar)
                }
            }
            let message = Array(#"[{"city":"\#(written)","aqi":1}]"#.utf8)
            #expect(Found.read(message, 2, with: &reader) == .records([["'\(text)'", "1.0"]]), "\(written)")
        }
    }

    /// By one reader, so that nothing of a message may be left when the next one is read.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `A message with random damage is JSON for a reader of records if it is for a tree`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var reader = JSONRecordReader(members: ["city", "aqi"])
        let seeds = MessageCase.all.filter { $0.found != .notJSON && $0.items.isEmpty }.map(\.message)
        let alphabet = Array("[]{}:,\"\\ 019-+.eEtfnul/\u{1}\u{7F}é😀".utf8) + [0x80, 0xC0, 0xFF]
        for _ in 0..<25_000 {
            var message = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...message.count, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: message.insert(byte, at: place)
                case 1 where place < message.count: message.remove(at: place)
                default: if place < message.count { message[place] = byte }
                }
            }
            let found = Found.read(message, 2, with: &reader)
            #expect(
                (found != .notJSON) == ((try? JSONTree.texts(of: message.span)) != nil),
                "\(String(decoding: message, as: UTF8.self))")
            #expect(found == Found.read(message), "\(String(decoding: message, as: UTF8.self))")
        }
    }
}
