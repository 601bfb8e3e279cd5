import TestSupport
import Testing

@testable import JSON

/// The fields that a reader finds in a message's elements: "'Pune' 1.0; 'Delhi' absent"; `nil` if it is not JSON.
enum Found {
    static func read(_ message: [UInt8], items: String = "", fields: [String] = ["city", "aqi"]) -> String? {
        var reader = JSONReader()
        return read(message, items: items, fields: fields, with: &reader)
    }

    static func read(
        _ message: [UInt8], items: String = "", fields: [String] = ["city", "aqi"], with reader: inout JSONReader
    ) -> String? {
        guard let texts = reader.read(message.span) else { return nil }
        var elements: [String] = []
        for text in positions(texts, reader) {
            guard let found = reader.find(jsonPointer(items)!, in: text) else { continue }
            var range = found..<reader.next(after: found)
            if case .array(let inner) = reader.value(at: found) { range = inner }
            for element in positions(range, reader) {
                let paths = fields.map { jsonPointer(member: $0)! }
                let found = paths.map { reader.find($0, in: element) }
                elements.append(found.map { describe($0, reader) }.joined(separator: " "))
                for position in paths.indices.dropFirst() {
                    let pair = reader.find(paths[position - 1], paths[position], in: element)
                    #expect(pair.one == found[position - 1] && pair.other == found[position])
                }
                let four = reader.find([paths.last!, [], paths[0], paths[paths.count / 2]], in: element)
                #expect([four[0], four[1], four[2], four[3]] == [found.last!, nil, found[0], found[paths.count / 2]])
            }
        }
        reader.forget()
        return elements.joined(separator: "; ")
    }

    private static func positions(_ range: Range<Int>, _ reader: borrowing JSONReader) -> [Int] {
        var positions: [Int] = []
        var position = range.lowerBound
        while position < range.upperBound {
            positions.append(position)
            position = reader.next(after: position)
        }
        #expect(position == range.upperBound)
        return positions
    }

    private static func describe(_ position: Int?, _ reader: borrowing JSONReader) -> String {
        guard let position else { return "absent" }
        switch reader.value(at: position) {
        case .null: return "null"
        case .boolean: return "boolean"
        case .array: return "array"
        case .object: return "object"
        case .number(let number): return "\(number)"
        case .text(let range):
            let bytes = reader.texts[range]
            #expect(String(validating: bytes, as: UTF8.self) != nil, "\(bytes)")
            return "'" + String(decoding: bytes, as: UTF8.self) + "'"
        }
    }
}

struct JSONReaderTests {
    /// A message, and the members city and aqi of its elements.
    private static let good: [(String, String)] = [
        ("[]", ""),
        (
            #"[{"city":"Mumbai","aqi":179.48953967731958},{"city":"Pune","aqi":222}]"#,
            "'Mumbai' 179.48953967731958; 'Pune' 222.0"
        ),
        (#"[{"city": "Pune", "aqi": 1}, {"city": "Delhi", "aqi": 2}]"#, "'Pune' 1.0; 'Delhi' 2.0"),
        (" [ { \"city\"\t:\r\n\"Pune\" , \"aqi\" : 1 } ] \n", "'Pune' 1.0"),
        (#"[{"aqi":1,"city":"Pune"}]"#, "'Pune' 1.0"),
        (#"[{"id":[1,{"a":null}],"city":"Pune","x":"y","aqi":1,"t":true}]"#, "'Pune' 1.0"),
        (#"[{"city":"Pune"},{"aqi":1},{}]"#, "'Pune' absent; absent 1.0; absent absent"),
        (#"[{"city":"Pune","aqi":1,"city":"Delhi"}]"#, "'Delhi' 1.0"),
        (#"[{"city":null,"aqi":true},{"city":[],"aqi":{}}]"#, "null boolean; array object"),
        (#"[1,"a",null,[],{"city":"Pune"}]"#, String(repeating: "absent absent; ", count: 4) + "'Pune' absent"),
        (#"{"city":"Pune","aqi":1}"#, "'Pune' 1.0"), (#""Pune""#, "absent absent"), ("7", "absent absent"),
        ("null", "absent absent"), (#"[{"city":"Pune","aqi":"12.5"}]"#, "'Pune' '12.5'"),
        // Strings.
        (
            #"[{"city":"a\"b\\c\/d\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00","aqi":1}]"#,
            "'a\"b\\c/d\u{8}\u{c}\n\r\tAé€😀' 1.0"
        ),
        (#"[{"\u0063ity":"Pune","aqi":1}]"#, "'Pune' 1.0"),
        (
            #"[{"city":"मुंबई","aqi":1},{"city":"القاهرة","aqi":2},{"city":"😀","aqi":3}]"#,
            "'मुंबई' 1.0; 'القاهرة' 2.0; '😀' 3.0"
        ),
        (#"[{"city":"","aqi":1},{"city":" Pune ","aqi":1}]"#, "'' 1.0; ' Pune ' 1.0"),
        (
            #"[{"city":"1234567"},{"city":"12345678"},{"city":"123456789"}]"#,
            "'1234567' absent; '12345678' absent; '123456789' absent"
        ),
        ("[{\"city\":\"a\u{7F}b\",\"aqi\":1}]", "'a\u{7F}b' 1.0"),
        (#"[{"city":"a\u0000","aqi":1}]"#, "'a\u{0}' 1.0"),
        // Numbers.
        (
            "[{\"aqi\":0},{\"aqi\":-0},{\"aqi\":1e2},{\"aqi\":1E+2},{\"aqi\":12.5e-1},{\"aqi\":0.000001}]",
            "absent 0.0; absent 0.0; absent 100.0; absent 100.0; absent 1.25; absent 1e-06"
        ),
        (#"[{"aqi":1e-999},{"aqi":5e-324}]"#, "absent 0.0; absent 5e-324"),
        (
            #"[{"aqi":-9223372036854775808},{"aqi":18446744073709551615}]"#,
            "absent -9.223372036854776e+18; absent 1.8446744073709552e+19"
        ),
        (
            #"[{"aqi":0.1234567890123456789012345},{"aqi":123456789012345678901234567890.5}]"#,
            "absent 0.12345678901234568; absent 1.2345678901234568e+29"
        ),
    ]

    @Test(arguments: good) func `Members of elements are found in valid messages`(message: String, found: String) {
        #expect(Found.read(Array(message.utf8)) == found)
    }

    @Test(
        arguments: [
            (#"{"data":{"cities":[{"city":"Pune","aqi":1}]},"x":[1]}"#, "/data/cities", "'Pune' 1.0"),
            (#"[0,[{"city":"Pune"}]]"#, "/1", "'Pune' absent"),
            (#"{"data":{}}"#, "/data/cities", ""),
            (#"{"a/b":{"~":[{"city":"Pune"}]}}"#, "/a~1b/~0", "'Pune' absent"),
            (#"{"d":[{"city":"A"}],"d":[{"city":"B"}]}"#, "/d", "'B' absent"),
            (#"{"d":[{"city":"A"}],"d":1}"#, "/d", "absent absent"),
            (#"{"d":[{"city":"A"}],"x":01}"#, "/d", nil),
        ] as [(String, String, String?)])
    func `Elements are found at the pointer to the items`(message: String, items: String, found: String?) {
        #expect(Found.read(Array(message.utf8), items: items) == found)
    }

    @Test(arguments: invalid + unrepresentable)
    func `A message of invalid JSON is rejected`(message: String) { #expect(Found.read(Array(message.utf8)) == nil) }

    @Test(arguments: invalidUTF8) func `A message that is not UTF-8 is rejected`(bytes: [UInt8]) {
        #expect(Found.read(Array("[{\"city\":\"".utf8) + bytes + Array("\",\"aqi\":1}]".utf8)) == nil)
    }

    /// A lone surrogate has no UTF-8, no double holds 1e999, and simdjson rejects integers beyond 64 bits.
    private static let unrepresentable = [
        #"[{"city":"a\ud800b","aqi":1}]"#, #"[{"city":"\udc00","aqi":1}]"#, #"[{"city":"\ud800\n","aqi":1}]"#,
        #"[{"city":"\ud83d\ud83d\ude00","aqi":1}]"#, #"[{"x":"\udfff","city":"Pune"}]"#,
        #"[{"\udfff":1,"city":"Pune"}]"#, #"[{"aqi":1},{"aqi":1e999}]"#, #"[{"aqi":123456789012345678901234567890}]"#,
        #"[{"city":"Pune","aqi":1,"x":{"y":[18446744073709551616]}}]"#, #"[{"aqi":1},{"x":-9223372036854775809}]"#,
    ]

    /// None of these is valid JSON (RFC 8259).
    private static let invalid = [
        "", " ", "[", "]", "{", "}", "[,]", "[1,]", "[1 2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{1:1}", "[1]]", "[][]", "[],[]", "[] [", "[]x", "nul", "nulll", "True", "[01]", "[-01]", "[+1]", "[.5]",
        "[5.]", "[1e]", "[1e+]", "[-]", "[0x10]", "[1_000]", "[NaN]", "[Infinity]", "[-Infinity]", "['a']", "[\"a]",
        "[\"\\x41\"]", "[\"\\u12\"]", "[\"\\u12g4\"]", "[\"\\\"]", "[\"a\nb\"]", "[\"a\tb\"]", "[\"\u{0}\"]",
        "[1]\u{0}", "[1]\u{FEFF}", "[1]//x", "[/*x*/1]", "[{\"city\":\"Pune\" \"aqi\":1}]",
        "[{\"city\":\"Pune\",\"aqi\":1}", "[{\"city\":\"Pune\",\"aqi\":1]", "[{\"city\":\"Pune\",\"aqi\":1}}",
        "[{\"city\":\"Pune\",\"aqi\":1},]", "[{\"city\":\"Pune\",\"aqi\":1},,{}]", "[{\"city\":\"Pune\",\"aqi\":1.}]",
        "[{\"city\":\"Pune\",\"aqi\":01}]", "[{\"city\":\"Pune\",\"aqi\":--1}]",
        "[{\"city\":\"Pu\u{1}ne\",\"aqi\":1}]", "[{\"city\":\"Pune\",\"x\":01,\"aqi\":1}]",
    ]

    /// The edges of table 3-7 of the Unicode standard.
    private static let invalidUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xFE], [0xFF], [0xFF, 0xFF],
    ]

    @Test func `A message that is cut off anywhere is rejected`() {
        let message = Array(#"[{"city":"Pune é","aqi":12.5},{"city":"a\u0041","aqi":"3"}]"#.utf8)
        for count in 0..<message.count { #expect(Found.read(Array(message[..<count])) == nil) }
    }

    @Test(arguments: ["[", "{\"a\":"])
    func `A message may be nested up to the limit but no deeper`(_ opening: String) {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)).utf8)
        }
        #expect(Found.read(nested(JSONReader.maximumDepth)) != nil)
        #expect(Found.read(nested(JSONReader.maximumDepth + 1)) == nil)
        #expect(Found.read(nested(1_000_000)) == nil)
    }

    @Test func `Members with any name are found`() {
        let message = Array(#"[{"a long city name":"Pune","another long name":7,"t":8,"":9,"é":10}]"#.utf8)
        let fields = ["a long city name", "another long name", "t", "", "é", "a long city namf"]
        #expect(Found.read(message, fields: fields) == "'Pune' 7.0 8.0 9.0 10.0 absent")
        #expect(Found.read(message, fields: ["t"]) == "8.0")
    }

    @Test(
        arguments: [
            (#"{"data":{"aqi":5,"city":"Pune"},"n":1}"#, "'Pune' 5.0 object 1.0"),
            (#"{"n":1,"data":{"city":["a"]}}"#, "array absent object 1.0"),
            (#"{"data":[{"city":"Pune"}]}"#, "absent absent array absent"),
            (#"{"data":{"aqi":5},"data":{"city":"A"}}"#, "'A' absent object absent"),
            (#"{"data":{"aqi":5},"data":7}"#, "absent absent 7.0 absent"),
            (#"{"data":{"aqi":{"":1}}}"#, "absent object object absent"),
            ("7", "absent absent absent absent"),
        ])
    func `Values are found by JSON pointers`(_ element: String, _ found: String) {
        let fields = ["/data/city", "/data/aqi", "data", "/n"]
        #expect(Found.read(Array("[\(element),\(element)]".utf8), fields: fields) == "\(found); \(found)")
        #expect(
            Found.read(Array(#"[{"a/b":{"~":[0,7]}}]"#.utf8), fields: ["/a~1b/~0/1", "/a~1b/~0/01", "/a~1b/~0/2", "/"])
                == "7.0 absent absent absent")
    }

    @Test(
        arguments: [
            ("[1] [2,3]", 3), ("{} {}", 2), ("{}\n{}\n", 2), ("\u{1E}{}\n\u{1E}[{},{}]\n", 3), ("1 2 \"a b\" null", 4),
            ("[] []", 0), ("\u{FEFF}[{}]", 1), ("\u{FEFF}{} {}", 2), ("\u{1E}{}", 1), (" {} ", 1),
        ])
    func `Several JSON texts in a message count as one array of their elements`(_ message: String, _ count: Int) {
        #expect(
            Found.read(Array(message.utf8), fields: ["city"])
                == Array(repeating: "absent", count: count).joined(separator: "; "))
    }

    @Test(
        arguments: [
            (#"{"data":[{"city":"A"}]} {"ping":1} {"data":{"city":"B"}}"#, ["'A'", "'B'"]),
            (#"{"ping":1}"#, []), ("{} []", []),
        ] as [(String, [String])])
    func `Items are collected from every JSON text of a message that has them`(_ message: String, _ cities: [String]) {
        let found = Found.read(Array(message.utf8), items: "/data")
        #expect(found == cities.map { $0 + " absent" }.joined(separator: "; "))
    }

    @Test(
        arguments: [
            ("7", "7"), ("-7", "-7"), ("18446744073709551615", "18446744073709551615"), ("0", "0"), ("7.0", "7"),
            ("-9223372036854775808", "-9223372036854775808"), ("7e2", "700"), ("7.5", nil), ("1e300", nil),
            ("\"7\"", nil),
        ] as [(String, String?)])
    func `Whole numbers are read as their exact digits`(_ number: String, _ digits: String?) {
        var reader = JSONReader()
        let position = reader.read(Array("\(number)".utf8).span)?.lowerBound
        let found = position.flatMap { reader.wholeNumber(at: $0) }.map { String(decoding: $0, as: UTF8.self) }
        #expect(found == digits)
    }

    @Test func `A message full of escapes is unescaped completely`() {
        let element = #"{"city":"\n\u0041\u00e9\\","aqi":1}"#
        let message = "[" + Array(repeating: element, count: 1000).joined(separator: ",") + "]"
        #expect(
            Found.read(Array(message.utf8)) == Array(repeating: "'\nAé\\' 1.0", count: 1000).joined(separator: "; "))
    }

    /// Buffers grow, and shrink again.
    @Test func `One reader reads messages of any size one after another`() {
        var reader = JSONReader()
        for count in [1, 127, 128, 129, 0, 256, 3, 50_000, 2, 1000] {
            let elements = (0..<count).map { #"{"city":"City \#($0)","aqi":\#($0)}"# }
            let message = Array("[\(elements.joined(separator: ","))]".utf8)
            #expect(
                Found.read(message, with: &reader)
                    == (0..<count).map { "'City \($0)' \(Double($0))" }.joined(separator: "; "))
            #expect(Found.read(Array(message.dropLast()), with: &reader) == nil)
            #expect(Found.read(Array("7".utf8), with: &reader) == "absent absent")
        }
    }

    /// Plain and escaped characters of every kind, at every position in a block of bytes that is read at once.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `Strings are read correctly however their characters are escaped`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var reader = JSONReader()
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
            #expect(Found.read(message, with: &reader) == "'\(text)' 1.0", "\(written)")
        }
    }

    /// One reader reads all messages, so that nothing of one may affect the next.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `A damaged message is read the same by a used reader and by a new one`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var reader = JSONReader()
        let seeds = Self.good.map { Array($0.0.utf8) }
        let alphabet = Array("[]{}:,\"\\ 019-+.eEtfnul/\u{1}\u{7F}é😀".utf8) + [0x80, 0xC0, 0xFF]
        for _ in 0..<25_000 {
            var message = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let position = Int.random(in: 0...message.count, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: message.insert(byte, at: position)
                case 1 where position < message.count: message.remove(at: position)
                default: if position < message.count { message[position] = byte }
                }
            }
            let found = Found.read(message, with: &reader)
            #expect(found == Found.read(message), "\(String(decoding: message, as: UTF8.self))")
        }
    }
}
