import Testing

@testable import Bytes
@testable import WebConfiguration

@Suite struct BasicCredentialsTests {
    @Test(
        "base64 decodes or is refused",
        arguments: [
            ("", []), ("Zg==", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("Zm9vYg==", Array("foob".utf8)), ("+/8A", [0xFB, 0xFF, 0x00]), ("Zh==", [0x66]),
            ("Zg", nil), ("Zg=", nil), ("Z===", nil), ("====", nil), ("Zg==Zg==", nil), ("Z g=", nil), ("Zm9_", nil),
            ("Zm\nv", nil), ("Zm9é", nil),
        ] as [(String, [UInt8]?)])
    func base64(text: String, expected: [UInt8]?) {
        #expect(decodeBase64(Array(text.utf8)[...]) == expected)
    }

    @Test("every byte survives") func everyByte() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max {
            let text = [alphabet[Int(byte >> 2)], alphabet[Int(byte & 3) << 4]] + Array("==".utf8)
            #expect(decodeBase64(text[...]) == [byte])
        }
    }

    @Test(
        "the Authorization header",
        arguments: [
            ("Basic dXNlcjpwYXNz", ["user", "pass"]), ("basic dXNlcjpwYXNz", ["user", "pass"]),
            ("BASIC dXNlcjpwYXNz", ["user", "pass"]), ("Basic dXNlcjpwOmE6c3M=", ["user", "p:a:ss"]),
            ("Basic dXNlcjo=", ["user", ""]), ("Basic OnBhc3M=", ["", "pass"]), ("Basic Og==", ["", ""]),
            ("Basic dXNlcg==", nil), ("Basic", nil), ("Basic ", nil), ("", nil), ("Bearer dXNlcjpwYXNz", nil),
            ("Basic  dXNlcjpwYXNz", nil), ("Basic dXNlcjpwYXNz ", nil), ("BasicdXNlcjpwYXNz", nil),
            (" Basic dXNlcjpwYXNz", nil),
        ] as [(String, [String]?)])
    func header(value: String, expected: [String]?) {
        let credentials = expected.map { BasicCredentials(user: Array($0[0].utf8), password: Array($0[1].utf8)) }
        #expect(BasicCredentials(authorization: value) == credentials)
    }

    @Test("bytes that are not UTF-8 are kept") func bytes() {
        let credentials = BasicCredentials(authorization: "Basic /zr+AA==")
        #expect(credentials == BasicCredentials(user: [0xFF], password: [0xFE, 0]))
    }
}
