import Testing

@testable import Bytes

struct ASCIITests {
    @Test func `Character classes contain exactly the expected bytes`() {
        func members(_ isMember: (UInt8) -> Bool) -> String {
            String(decoding: (0...255).filter(isMember), as: UTF8.self)
        }
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        #expect(members(isDigit) == "0123456789")
        #expect(members(isBlank) == "\t ")
        #expect(members(isJSONBlank) == "\t\n\r ")
        #expect(members(isLetterOrDigit) == "0123456789" + letters + letters.lowercased())
        #expect(members { lowercase($0) != $0 } == letters)
    }

    @Test(
        arguments: [
            ("gzip", "GZIP", true), ("Content-Length", "content-length", true), ("gzi", "gzip", false),
            ("gzip ", "gzip", false), ("[", "{", false), ("", "", true),
        ])
    func `Comparison ignores the case of ASCII letters only`(one: String, other: String, areEqual: Bool) {
        #expect(equalsIgnoringCase(Array(one.utf8), other) == areEqual)
    }

    @Test(
        arguments: [
            ("", ""), (" ", ""), (" \t ", ""), ("a", "a"), ("\t a b \t", "a b"), ("\na\r", "\na\r"), (" ä ", "ä"),
            ("\u{A0}a", "\u{A0}a"),
        ])
    func `Trimming removes only spaces and tabs at both ends`(text: String, trimmed expected: String) {
        #expect(trimmed(text[...]) == expected)
        #expect(Array(trimmed(Array(text.utf8))) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("007", 7), ("127", 127), ("128", nil), ("99999", nil), ("", nil), ("-1", nil), ("+1", nil),
            (" 1", nil), ("1 ", nil), ("1_0", nil), ("0x1", nil), ("١", nil), ("1é", nil),
        ] as [(String, Int8?)])
    func `A decimal number has only ASCII digits and fits its type`(text: String, number: Int8?) {
        #expect(decimalNumber(text.utf8) as Int8? == number)
    }
}
