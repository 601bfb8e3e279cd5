import Testing

@testable import System
@testable import YAML

@Suite struct YAMLTests {
    @Test(
        arguments: [
            ("", nil),
            ("# only a comment\n", nil),
            ("\u{FEFF}", nil),
            ("---\n", "?"),
            ("a", "a?"),
            ("'a'", "a"),
            ("\"a\\tb\\u00e9\"", "a\tbé"),
            ("a: 1\nb: [x, 'y']\n", "{a: 1?, b: [x?, y]}"),
            ("{a: {b: {}}, c: []}", "{a: {b: {}}, c: []}"),
            ("- |\n  two\n  lines\n- >-\n  one\n  line\n", "[two\nlines\n, one line]"),
            ("b: 1\na: 2\n", "{b: 1?, a: 2?}"),
            ("!!str 5", "5?"),
            ("! x", "x?"),
            ("!!map {'<<': x}", "{<<: x?}"),
            ("[&a 1, *a, *a]", "[1?, 1?, 1?]"),
            ("a: &x {b: &y 1}\nc: [*x, *y]\n", "{a: {b: 1?}, c: [{b: 1?}, 1?]}"),
            ("first\n---\nsecond", "first?"),
            ("first\n---\n}: [ not read", "first?"),
            ("%YAML 1.1\n---\na", "a?"),
        ] as [(String, String?)])
    func `A YAML document is parsed into a tree`(text: String, expected: String?) throws {
        #expect(try YAMLField.parse(Array(text.utf8))?.outline == expected)
    }

    @Test func `UTF-16 with a byte order mark is read`() throws {
        let text: [UInt8] = [0xFF, 0xFE] + "é: 1".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try YAMLField.parse(text)?.outline == "{é: 1?}")
    }

    @Test(
        arguments: [
            ("a: 1\nb: 2\na: 3\n", "line 3: the key \"a\" is given twice"),
            ("1: x\n'1': y\n", "line 2: the key \"1\" is given twice"),
            ("ws://u:p@h/: 1\nws://u:p@h/: 2\n", "line 2: the key \"ws://***@h/\" is given twice"),
            ("a: *x\n", "line 1: found undefined alias"),
            ("[&a 1, &a 2, *a]", "line 1: found duplicate anchor"),
            ("a: 1\nb: &x [*x]\n", "line 2: nested deeper than 8 levels"),
            ("&x {a: *x}\n", "line 1: nested deeper than 8 levels"),
            ("a: 1\n<<: {b: 2}\n", "line 2: merge keys (<<) are not supported, expected the keys themselves"),
            ("a: 1\nb: !!binary aGk=\n", "line 2: \"!!binary\" is not supported, expected a value without a tag"),
            ("!!set {a, b}", "line 1: \"!!set\" is not supported, expected a value without a tag"),
            ("!own x", "line 1: \"!own\" is not supported, expected a value without a tag"),
            ("!<tag:example.org,2000:a> x", "line 1: \"tag:example.org,2000:a\" is not supported"),
            ("{[a]: b}", "line 1: a key is a list, expected a string"),
            ("{a: {{b: c}: d}}", "line 1: a.a key is a mapping, expected a string"),
            ("a:\n  - b\n c\n", "line 3: "),
            ("a: 'x\n", "line 2: found unexpected end of stream"),
            ("a: b: c\n", "line 1: mapping values are not allowed in this context"),
            ("a: 1\n\tb: 2\n", "line 2: found a tab character that violates indentation"),
            ("[a, b", "line 2: did not find expected ',' or ']'"),
            ("a: 1\nb: \u{1}\n", "line 2: control characters are not allowed"),
            ("!x!y z\n", "line 1: found undefined tag handle"),
            ("%YAML 2.0\n---\n", "line 1: found incompatible YAML document"),
        ])
    func `A parse error names the line and the cause`(text: String, expected: String) {
        let error = #expect(throws: SystemError.self) { try YAMLField.parse(Array(text.utf8)) }
        #expect(error?.code == .content)
        #expect(error?.reason.hasPrefix(expected) == true, "\(error?.reason ?? "")")
    }

    @Test func `Lines are counted from 1, and an aliased value keeps its own line`() throws {
        let document = try #require(try YAMLField.parse(Array("\na: &x 1\nb:\n  - *x\n".utf8)))
        let pairs = try document.mapping()
        let list = try #require(try pairs[1].value.list())
        // An aliased value keeps the line of its anchor.
        #expect([document.line, pairs[0].value.line, pairs[1].value.line, list[0].line] == [2, 2, 4, 2])
        #expect(list[0].path == "b[0]")
    }

    @Test(
        arguments: [
            ("[[[[[[[a]]]]]]]", "[[[[[[[a?]]]]]]]"), ("[[[[[[[[]]]]]]]]", "[[[[[[[[]]]]]]]]"),
            ("[&x [[[[[a]]]]], [*x]]", "[[[[[[a?]]]]], [[[[[[a?]]]]]]]"),
            ("{a: {b: {c: {d: {e: {f: {g: {}}}}}}}}", "{a: {b: {c: {d: {e: {f: {g: {}}}}}}}}"),
            ("[[[[[[[[a]]]]]]]]", nil), ("[[[[[[[[[]]]]]]]]]", nil), ("[&x [[[[[a]]]]], [[*x]]]", nil),
        ] as [(String, String?)])
    func `The nesting depth is limited, including through aliases`(text: String, expected: String?) throws {
        if let expected {
            #expect(try YAMLField.parse(Array(text.utf8))?.outline == expected)
        } else {
            let error = #expect(throws: SystemError.self) { try YAMLField.parse(Array(text.utf8)) }
            #expect(error?.reason == "line 1: nested deeper than 8 levels")
        }
    }

    @Test func `The number of values, aliased ones included, and the size of the text are limited`() throws {
        let ten = "[" + repeatElement("x", count: 10).joined(separator: ",") + "]"
        let bomb = (1...4).reduce("a0: &a0 \(ten)\n") { text, level in
            text + "a\(level): &a\(level) [" + repeatElement("*a\(level - 1)", count: 10).joined(separator: ",") + "]\n"
        }
        let error = #expect(throws: SystemError.self) { try YAMLField.parse(Array(bomb.utf8)) }
        #expect(error?.reason == "line 1: more than 20000 values")
        // The list is a value, too.
        let list = "[" + repeatElement("x", count: 19_999).joined(separator: ",") + "]"
        #expect(try YAMLField.parse(Array(list.utf8)) != nil)
        #expect(throws: SystemError.self) { try YAMLField.parse(Array((list.dropLast() + ",x]").utf8)) }
        let long = #expect(throws: SystemError.self) { try YAMLField.parse([UInt8](repeating: 35, count: 1 << 20)) }
        #expect(long?.reason == "longer than 262144 bytes")
    }

    @Test func `Long keys are shortened in the paths of errors`() throws {
        let key = String(repeating: "k", count: 1000)
        let document = try #require(try YAMLField.parse(Array("\(key): [x]".utf8)))
        #expect(try document.mapping()[0].value.path.utf8.count < 100)
    }

    @Test(arguments: ["[", "[\n", "{a: ", "[a, ", "- ", "? "])
    func `A file full of openings is refused for the first that is too deep`(opening: String) {
        let text = Array(String(repeating: opening, count: YAMLField.maximumBytes / opening.utf8.count).utf8)
        let error = #expect(throws: SystemError.self) { try YAMLField.parse(text) }
        #expect(error?.reason == "line \(opening == "[\n" ? 9 : 1): nested deeper than 8 levels")
    }

    @Test(arguments: ["[", "- x\n"])
    func `A document after the first has no limits`(part: String) throws {
        let text = Array("first\n---\n\(String(repeating: part, count: 60_000))".utf8)
        #expect(try YAMLField.parse(text)?.outline == "first?")
        #expect(throws: SystemError.self) { try YAMLField.parse(text, isOnly: true) }
    }
}

extension YAMLField {
    /// The tree on one line, with `?` after each plain scalar.
    var outline: String {
        switch content {
        case .scalar(let text, let isPlain): text + (isPlain ? "?" : "")
        case .list(let values): "[" + values.map(\.outline).joined(separator: ", ") + "]"
        case .mapping(let pairs): "{" + pairs.map { $0.key + ": " + $0.value.outline }.joined(separator: ", ") + "}"
        }
    }
}

@Suite struct YAMLValueTests {
    @Test(arguments: ["\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"])
    func `Each of the six YAML line breaks ends a line`(end: String) throws {
        let field = try YAMLField.parse(Array("a: 1\(end)b:\(end)  - 2\(end)".utf8))
        #expect(field?.outline == "{a: 1?, b: [2?]}")
        guard case .mapping(let pairs)? = field?.content else { return }
        #expect(pairs.map(\.value.line) == [1, 3])
    }

    @Test(arguments: ["", "~", "null", "Null", "NULL"]) func `Null is false and an empty text`(_ text: String) throws {
        let field = try #require(try YAMLField.parse(Array("- \(text)".utf8))?.list()?.first)
        #expect(try field.isNull && field.boolean() == false && field.text() == "" && field.list() == nil)
    }

    @Test(
        arguments: [
            ("y", true), ("Yes", true), ("ON", true), ("true", true), ("n", false), ("no", false), ("Off", false),
            ("FALSE", false), ("tRUE", nil), ("yES", nil), ("nUll", nil), ("nil", nil), ("1", nil), ("'true'", nil),
        ] as [(String, Bool?)])
    func `Only the unquoted booleans of YAML 1.1 are read as booleans`(text: String, expected: Bool?) throws {
        let field = try #require(try YAMLField.parse(Array(text.utf8)))
        #expect(!field.isNull && (try? field.boolean()) == expected)
    }
}

@Suite struct YAMLMembersTests {
    @Test func `Members are found by key, and unexpected keys are an error`() throws {
        let field = try YAMLField.parse(Array("a: 1\nb:\n  2\nc: 3\n".utf8))
        let members = try field.members(["a", "b", "c", "d"])
        #expect(try members["a"]?.text() == "1" && members["d"] == nil)
        let error = #expect(throws: SystemError.self) { try field.members(["a", "d"]) }
        #expect(error?.reason == "line 2: b is unknown, expected one of a, d")
        let list = try YAMLField.parse(Array("[a]".utf8))
        #expect(throws: SystemError.self) { try list.members(["a"]) }
    }

    @Test(arguments: ["", "~"]) func `Null has no members`(_ text: String) throws {
        #expect(try YAMLField.parse(Array(text.utf8)).members(["a"]).isEmpty)
    }

    @Test func `A text is converted to a value, null to none, and an unsuitable text is an error`() throws {
        let number = try #require(try YAMLField.parse(Array("1".utf8)))
        #expect(try number.value(expected: "a digit") { Int($0) } == 1)
        #expect(try YAMLField.parse(Array("~".utf8))?.value(expected: "a digit") { Int($0) } == nil)
        let error = #expect(throws: SystemError.self) { try number.value(expected: "a letter") { _ in Int?.none } }
        #expect(error?.reason == #"line 1: the document is "1", expected a letter"#)
    }
}
