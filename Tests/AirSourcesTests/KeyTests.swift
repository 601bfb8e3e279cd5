import Testing

@testable import AirSources

struct KeyTests {
    @Test(arguments: [
        "abc", "abc==", "0123456789abcdef0123456789abcdef01234567", "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "a_b-c+d/e.f",
        "c2VjcmV0LWtleS0xMjM0NQ=", "-abc", "_abc",
    ])
    func `A text of letters, digits and few signs is a key`(text: String) {
        #expect(keyMistake(text) == nil)
    }

    @Test(arguments: [
        "", "a b", "\"abc\"", "'abc", "KEY=abc", "KEY1=abc", "API_KEY_2=abc", "AIR_QUALITY_FEED_KEY=", "KEY=", "a1=b",
        "=abc", "=", "key:abc", "X-API-Key:abc", "{\"key\":\"abc\"}", "`abc`", "<abc>", "$KEY", "${KEY}", "[abc]",
        "abc;", "https://waqi.info/?token=abc", "me@example.com", "/run/secrets/key", "./key", "~/key", "ключ",
        "abc\r", "abc===", String(repeating: "a", count: 257),
    ])
    func `A text that cannot be a key is said to be none, and how it should be`(text: String) {
        #expect(
            keyMistake(text)
                == "the key alone, without name, quotes or brackets: at most 256 letters, digits and -_.+/, "
                + "= only at the end")
    }
}
