import Testing

@testable import AirSources

struct KeyTests {
    @Test(
        arguments: [
            ("abc", nil), ("abc==", nil), ("=abc", nil), ("a1=b", nil), ("\"abc\"", "the key without quotes"),
            ("'abc", "the key without quotes"), ("KEY=abc", "the key without KEY= before it"),
            ("AIR_KEY=abc", "the key without AIR_KEY= before it"),
        ] as [(String, String?)])
    func `A key as a file of variables has it is recognised`(text: String, expected: String?) {
        #expect(keyWrapping(text) == expected)
    }
}
