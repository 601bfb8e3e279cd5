import HTTPText
import Testing

@Suite struct QueryParameterTests {
    @Test(
        arguments: [
            ("", []), ("&&", []), ("a=1", ["a=1"]), ("a=1&b=2&a=3", ["a=1", "b=2", "a=3"]), ("a", ["a="]), ("=", ["="]),
            ("a=b=c", ["a=b=c"]), ("a+b=c%20d%3D", ["a b=c d="]), ("%zz=1", ["%zz=1"]), ("%ff", ["%ff="]),
            ("a=%ff&b=1", nil), ("a=%", nil), ("caf%C3%A9=%E2%82%AC", ["café=€"]),
        ] as [(String, [String]?)])
    func `A query is split into its parameters in order, and values that cannot be decoded are errors`(
        _ query: String, expected: [String]?
    ) {
        #expect((try? QueryParameter.all(in: query).map { "\($0.name)=\(try $0.text)" }) == expected)
    }

    @Test func `A query error quotes the wrong value on one line`() throws {
        let parameter = QueryParameter.all(in: "limit=a%0Ab" + String(repeating: "x", count: 100))[0]
        let shown = "\"a\\nb\(String(repeating: "x", count: 61))…\""
        #expect(throws: QueryError("limit is \(shown), expected a whole number, at least 1")) { try parameter.positive }
    }

    @Test(
        arguments: [
            ("0", 0), ("007", 7), ("18446744073709551615", .max), ("18446744073709551616", .max),
            ("99999999999999999999999", .max), ("", nil), ("-1", nil), ("+1", nil), ("%201", nil), ("1.0", nil),
            ("%2B1", nil), ("1e3", nil),
        ] as [(String, UInt64?)])
    func `A number in a query has only digits and is capped at the maximum`(_ text: String, expected: UInt64?) {
        #expect((try? QueryParameter.all(in: "limit=\(text)")[0].number(in: 0 ... .max, "a number")) == expected)
    }
}
