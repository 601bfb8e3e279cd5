import Testing

@testable import Bytes

struct Base64Tests {
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("\u{3FF}~?", "z79+Pw=="),
        ])
    func `Text is encoded to Base64 and decoded back`(text: String, base64: String) {
        #expect(encodeBase64(Array(text.utf8)) == base64)
        #expect(decodeBase64(Array(base64.utf8)[...]) == Array(text.utf8))
    }

    @Test func `Unused trailing bits of Base64 are ignored`() {
        #expect(decodeBase64(Array("Zh==".utf8)[...]) == Array("f".utf8))
    }

    @Test func `Every byte survives a Base64 round trip at every length`() {
        let bytes = Array(0...UInt8.max)
        for count in 0...bytes.count {
            #expect(decodeBase64(Array(encodeBase64(Array(bytes[..<count])).utf8)[...]) == Array(bytes[..<count]))
        }
    }

    @Test(
        arguments: [
            "Zg", "Zg=", "Zg===", "=Zg=", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9v\n", "Zm\nv", "Zm-v", "Zm9_", "Zm9é",
        ])
    func `Malformed Base64 is rejected`(text: String) {
        #expect(decodeBase64(Array(text.utf8)[...]) == nil)
    }
}
