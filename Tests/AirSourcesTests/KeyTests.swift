import Testing

@testable import AirSources

struct KeyTests {
    @Test(
        arguments: [
            ("abc", nil), ("abc==", nil), ("=abc", nil), ("a1=b", nil), ("\"abc\"", "the key without quotes"),
            ("'abc", "the key without quotes"), ("KEY=abc", "the key without KEY= before it"),
            ("AIR_KEY=abc", "the key without AIR_KEY= before it"),
            ("a b", "one line of printable ASCII without blanks, at most 256 bytes"),
        ] as [(String, String?)])
    func `A text that cannot be a key is said to be none, and how it should be`(text: String, expected: String?) {
        #expect(keyMistake(text) == expected)
    }
}
