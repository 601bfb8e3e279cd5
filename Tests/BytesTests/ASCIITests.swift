import Bytes
import Testing

@Suite("ASCII")
struct ASCIITests {
    @Test(
        "the value of a hexadecimal digit",
        arguments: [
            ("0", 0), ("9", 9), ("a", 10), ("F", 15), ("g", nil), ("/", nil), (":", nil), ("@", nil), ("`", nil),
        ]
            as [(String, UInt8?)])
    func hexadecimalDigits(digit: String, value: UInt8?) {
        #expect(hexDigit(digit.utf8.first!) == value)
    }

    @Test(
        "tokens are equal whatever their case",
        arguments: [
            ("gzip", "GZIP", true), ("Content-Length", "content-length", true), ("gzi", "gzip", false),
            ("gzip ", "gzip", false), ("[", "{", false), ("", "", true),
        ])
    func tokens(one: String, other: String, areEqual: Bool) {
        #expect(equalsIgnoringCase(Array(one.utf8), other) == areEqual)
    }

    @Test(
        "the first place of bytes in others",
        arguments: [("abcabc", "bc", 1), ("abc", "abc", 0), ("ab", "abc", nil), ("aab", "ab", 1)]
            as [(String, String, Int?)])
    func places(text: String, part: String, place: Int?) {
        #expect(Array(text.utf8)[...].range(of: Array(part.utf8))?.lowerBound == place)
    }
}
