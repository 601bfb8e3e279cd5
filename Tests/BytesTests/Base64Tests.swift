import Testing

@testable import Bytes

struct Base64Tests {
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("\u{3FF}~?", "z79+Pw=="),
        ])
    func `Base64 is written and read`(text: String, base64: String) {
        #expect(encodeBase64(Array(text.utf8)) == base64)
        #expect(decodeBase64(Array(base64.utf8)[...]) == Array(text.utf8))
    }

    @Test func `Bits behind the last byte of Base64 do not count`() {
        #expect(decodeBase64(Array("Zh==".utf8)[...]) == Array("f".utf8))
    }

    @Test func `All bytes survive Base64, at each length`() {
        let bytes = Array(0...UInt8.max)
        for count in 0...bytes.count {
            #expect(decodeBase64(Array(encodeBase64(Array(bytes[..<count])).utf8)[...]) == Array(bytes[..<count]))
        }
    }

    @Test(
        arguments: [
            "Zg", "Zg=", "Zg===", "=Zg=", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9v\n", "Zm\nv", "Zm-v", "Zm9_", "Zm9é",
        ])
    func `Anything that is not Base64 is rejected`(text: String) {
        #expect(decodeBase64(Array(text.utf8)[...]) == nil)
    }
}
