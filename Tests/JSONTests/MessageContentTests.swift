import JSON
import TestSupport
import Testing

struct MessageContentTests {
    enum Kind: Equatable {
        case json(String?)
        case text, blank, invalidUTF8

        init(_ content: MessageContent) {
            self =
                switch content {
                case .json(_, let replacement): .json(replacement.map { String(decoding: $0, as: UTF8.self) })
                case .text: .text
                case .blank: .blank
                case .invalidUTF8: .invalidUTF8
                }
        }
    }

    @Test(
        arguments: [
            ("[]", .json(nil)), ("\u{FEFF}{}", .json(nil)), ("2", .json(nil)),
            (#""NaN""#, .json(nil)), ("40", .json(nil)), ("1\n2", .json(nil)),
            ("0{\"sid\":1}", .text), ("42[1]", .text), ("{}{}", .text), ("a[\"x\"]", .text), ("NaN,", .text),
            ("\0", .text),
            ("", .blank), ("\u{FEFF}", .blank), (" \u{1E}\r\n\t", .blank),
            ("NaN", .json("null")),
            ("[NaN,NaN]", .json("[null,null]")),
        ] as [(String, Kind)])
    func `A message is JSON, a text or blank`(message: String, kind: Kind) {
        var reader = JSONReader()
        #expect(Kind(reader.content(of: Array(message.utf8).span)) == kind)
    }

    @Test(arguments: [[0xFF], [0x22, 0xC0, 0x22], [0x5B, 0xED, 0xA0, 0x80, 0x5D]] as [[UInt8]])
    func `What is not UTF-8 is no text`(message: [UInt8]) {
        var reader = JSONReader()
        #expect(reader.content(of: message.span) == .invalidUTF8)
    }

    @Test(
        arguments: [
            ("[NaN,1]", "[null,1]"), ("NaN", "null"), (" -Infinity ", " null "), ("{\"a\":Infinity}", "{\"a\":null}"),
            ("NaN NaN\u{1E}NaN", "null null\u{1E}null"), ("[\"NaN\",NaN,\"\\\"NaN\"]", "[\"NaN\",null,\"\\\"NaN\"]"),
            ("[\"a\\\\\",NaN]", "[\"a\\\\\",null]"), ("NaN\"", "null\""), ("\u{FEFF}[NaN]", "\u{FEFF}[null]"),
            ("[NaNs,aNaN,NaN1,-NaN,+Infinity,Infinit,nan,NaN.0]", nil), ("", nil), ("\"NaN\"", nil), ("[1]", nil),
            ("\"NaN", nil), ("\"\\", nil), ("\u{FEFF}NaN", "\u{FEFF}null"),
        ] as [(String, String?)])
    func `Numbers that JSON lacks are replaced as whole words outside of strings`(message: String, expected: String?) {
        let replaced = replacingNonFiniteNumbers(in: Array(message.utf8).span)
        #expect(replaced.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `A million of them are replaced in a message of the usual limit`() {
        let message = Array(("[" + String(repeating: "NaN,", count: 1 << 20) + "1]").utf8)
        var reader = JSONReader()
        guard case .json(_, let replacement?) = reader.content(of: message.span) else {
            Issue.record("no JSON")
            return
        }
        #expect(replacement.count == message.count + 1 << 20)
    }
}
