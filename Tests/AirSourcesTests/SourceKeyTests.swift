import Testing

@testable import AirSources

struct SourceKeyTests {
    @Test(arguments: [
        "abc", "abc==", "0123456789abcdef0123456789abcdef01234567", "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "a_b-c+d/e.f",
        "c2VjcmV0LWtleS0xMjM0NQ=", "-abc", "_abc",
    ])
    func `A text of letters, digits and a few symbols is a key`(text: String) {
        #expect(SourceKey(text.utf8, origin: "")?.text == text)
    }

    @Test(arguments: [
        "", "a b", "\"abc\"", "'abc", "KEY=abc", "KEY1=abc", "API_KEY_2=abc", "AIR_QUALITY_FEED_KEY=", "KEY=", "a1=b",
        "=abc", "=", "key:abc", "X-API-Key:abc", "{\"key\":\"abc\"}", "`abc`", "<abc>", "$KEY", "${KEY}", "[abc]",
        "abc;", "https://waqi.info/?token=abc", "me@example.com", "/run/secrets/key", "./key", "~/key", "ключ",
        "abc===", "a\nb", String(repeating: "a", count: 257),
    ])
    func `A text that cannot be a key is rejected`(text: String) {
        #expect(SourceKey(text.utf8, origin: "") == nil)
    }

    @Test(arguments: ["abc\n", "abc\r\n", " abc ", "\tabc\n\n", "\u{FEFF}abc\r\n", "\nabc"])
    func `White space and byte order marks around a key are removed`(text: String) {
        #expect(SourceKey(text.utf8, origin: "")?.text == "abc")
    }
}
