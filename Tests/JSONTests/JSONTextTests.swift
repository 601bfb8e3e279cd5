import TestSupport
import Testing

@testable import JSON

@Suite("Texts")
struct JSONTextTests {
    @Test(
        "are numbers in JSON's grammar alone",
        arguments: [
            ("12", 12), (" 12\t", 12), ("\r\n0", 0), ("1e2", 100), ("1E+2", 100), ("-3.5", -3.5), ("-0", 0),
            ("1e999", .infinity), ("-1e999", -.infinity), ("1e-999", 0), ("", nil), (" ", nil), ("-", nil),
            ("+5", nil), ("007", nil), ("-01", nil), ("0x10", nil), ("NaN", nil), ("inf", nil), ("1 2", nil),
            (".5", nil), ("5.", nil), ("1e", nil), ("1e+", nil), ("1_000", nil), ("\u{A0}1", nil), ("1\u{0}", nil),
        ] as [(String, Double?)])
    func numbers(_ text: String, _ number: Double?) {
        let found = jsonNumber(Array(text.utf8).span)
        #expect(found == number)
    }

    @Test("are pointers if RFC 6901 allows them", arguments: ["", "/", "/a/b", "/a~0b~1c"])
    func acceptsPointers(_ text: String) {
        #expect(JSONPointer(text) != nil)
    }

    @Test("are no pointers otherwise", arguments: ["a", "a/b", "/~", "/~2", "/a~"])
    func refusesPointers(_ text: String) {
        #expect(JSONPointer(text) == nil)
    }
}

@Suite("Bytes")
struct BytesTests {
    private static func equal(_ left: [UInt8], _ right: [UInt8], from start: Int = 0) -> Bool {
        bytesEqual(left.span, right.span.extracting(start...))
    }

    private static func precede(_ left: [UInt8], _ right: [UInt8]) -> Bool { bytesPrecede(left.span, right.span) }

    private static func hash(_ bytes: [UInt8], from start: Int = 0, seed: UInt64 = 1) -> UInt64 {
        ByteHash.hash(bytes.span.extracting(start...), seed: seed)
    }

    /// Runs that differ in one byte, in their length or not at all.
    @Test("are compared and hashed whatever their length and wherever they begin", arguments: 0...40)
    func comparison(_ count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Self.equal(bytes, [1, 2, 3] + bytes, from: 3))
        #expect(!Self.precede(bytes, bytes))
        #expect(Self.hash(bytes) == Self.hash([1, 2, 3] + bytes, from: 3))
        #expect(Self.hash(bytes) != Self.hash(bytes, seed: 2))
        let longer = bytes + [0]
        #expect(!Self.equal(bytes, longer))
        #expect(Self.precede(bytes, longer))
        #expect(!Self.precede(longer, bytes))
        #expect(Self.hash(bytes) != Self.hash(longer))
        for place in 0..<count {
            var other = bytes
            other[place] ^= 0x80
            #expect(!Self.equal(bytes, other))
            #expect(Self.precede(bytes, other) == (bytes[place] < other[place]))
            #expect(Self.hash(bytes) != Self.hash(other))
        }
    }
}
