import Testing

@testable import HTTPText

@Suite struct FormFieldTests {
    @Test(
        arguments: [
            ("", []), ("&&", []), ("a=1", ["a=1"]), ("a=1&b=2&a=3", ["a=1", "b=2", "a=3"]), ("a", ["a="]), ("=", ["="]),
            ("a=b=c", ["a=b=c"]), ("a+b=c%20d%3D", ["a b=c d="]), ("%zz=1", ["bad=1"]),
            ("a=%ff&b=1", ["a=bad", "b=1"]),
            ("a=%", ["a=bad"]), ("caf%C3%A9=%E2%82%AC", ["café=€"]),
        ] as [(String, [String])])
    func `A query has its parameters in their order`(_ query: String, expected: [String]) {
        func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "bad" }
        #expect(formFields(query).map { "\(text($0.name))=\(text($0.value))" } == expected)
    }

    @Test func `An error names what was wrong in one line`() {
        let value = Array("a\nb".utf8) + [UInt8](repeating: 120, count: 100)
        #expect(
            QueryError("limit", is: value, expected: "a number").line
                == "query: limit is \"a\\nb\(String(repeating: "x", count: 61))…\", expected a number")
    }

    @Test(
        arguments: [
            ("0", 0), ("007", 7), ("18446744073709551615", .max), ("18446744073709551616", .max),
            ("99999999999999999999999", .max), ("", nil), ("-1", nil), ("+1", nil), (" 1", nil), ("1.0", nil),
            ("1e3", nil),
        ] as [(String, UInt64?)])
    func `A number has digits alone, and the largest is in place of larger ones`(_ text: String, expected: UInt64?) {
        #expect(clampedNumber(Array(text.utf8)) == expected)
    }
}
