import Testing

@testable import Bytes

struct HexadecimalTests {
    @Test(
        arguments: [
            ("0", 0), ("9", 9), ("a", 10), ("F", 15), ("g", nil), ("/", nil), (":", nil), ("@", nil), ("`", nil),
        ]
            as [(String, UInt8?)])
    func `A hexadecimal digit has a value and any other character has none`(digit: String, value: UInt8?) {
        #expect(hexDigit(digit.utf8.first!) == value)
    }

    @Test(arguments: [(0, 2, "00"), (10, 2, "0a"), (0x1F600, 4, "1f600"), (255, 8, "000000ff")])
    func `A hexadecimal number is padded with leading zeros`(number: UInt32, digits: Int, text: String) {
        #expect(hexadecimal(number, digits: digits) == text)
    }

    @Test(
        arguments: [
            ("", ""), ("plain", "plain"), ("a%41%7a", "aAz"), ("%2B+", "++"), ("%e0%A4%AE", "म"), ("%2541", "%41"),
            ("%", nil), ("%4", nil), ("a%4", nil), ("%4g", nil), ("%%41", nil),
        ] as [(String, String?)])
    func `Percent-encoding is decoded, and malformed sequences are rejected`(text: String, decoded: String?) {
        #expect(percentDecoded(text.utf8) == decoded.map { Array($0.utf8) })
    }

    @Test func `A plus sign in a form decodes to a space, and any byte can be decoded`() {
        #expect(percentDecoded("a+b%2B".utf8, plusIsBlank: true) == Array("a b+".utf8))
        #expect(percentDecoded("a%00%FF".utf8) == [0x61, 0, 0xFF])
    }

    @Test(
        arguments: [
            ("", ""), ("AZaz09-._~", "AZaz09-._~"), ("a b&c=d+e", "a%20b%26c%3Dd%2Be"), ("म", "%E0%A4%AE"),
            ("\u{0}%", "%00%25"), ("/a b", "%2Fa%20b"),
        ])
    func `All but the unreserved characters are percent-encoded`(text: String, encoded: String) {
        #expect(percentEncoded(text.utf8) == encoded)
    }

    @Test func `Slashes of a path are not percent-encoded`() {
        #expect(percentEncoded("/a b/c?d".utf8, keepsSlashes: true) == "/a%20b/c%3Fd")
    }

    @Test func `Every byte survives percent-encoding and decoding`() {
        for byte in 0...UInt8.max { #expect(percentDecoded(percentEncoded([byte]).utf8) == [byte]) }
    }
}
