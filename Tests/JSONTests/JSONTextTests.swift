import Testing

@testable import JSON

struct JSONTextTests {
    @Test(
        arguments: [
            ("12", 12), (" 12\t", 12), ("\r\n0", 0), ("1e2", 100), ("1E+2", 100), ("-3.5", -3.5), ("-0", 0),
            ("1e999", .infinity), ("-1e999", -.infinity), ("1e-999", 0), ("", nil), (" ", nil), ("-", nil),
            ("+5", nil), ("007", nil), ("-01", nil), ("0x10", nil), ("NaN", nil), ("inf", nil), ("1 2", nil),
            (".5", nil), ("5.", nil), ("1e", nil), ("1e+", nil), ("1_000", nil), ("\u{A0}1", nil), ("1\u{0}", nil),
        ] as [(String, Double?)])
    func `A text is a number only in JSON's grammar`(_ text: String, _ number: Double?) {
        let found = jsonNumber(Array(text.utf8).span)
        #expect(found == number)
    }

    @Test func `A text is a JSON pointer only if RFC 6901 allows it`() {
        let texts = ["", "/", "/a/b", "/a~0b~1c", "a", "a/b", "/~", "/~2", "/a~"]
        #expect(texts.filter { jsonPointer($0) != nil } == ["", "/", "/a/b", "/a~0b~1c"])
    }
}
