internal import Bytes

/// A parameter of a form-encoded query (WHATWG URL Standard, section 5.1): `+` is a space, `%41` is A.
package struct QueryParameter {
    package let name: String
    /// Well-formed UTF-8.
    package let value: [UInt8]

    /// Parses the parameters of a query, the part of a URL after `?`, in their order.
    package static func all(in query: String) throws(QueryError) -> [QueryParameter] {
        try query.utf8.split(separator: UInt8(ascii: "&")).map { pair throws(QueryError) in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]).map({ String(decoding: $0, as: UTF8.self) }) else {
                throw QueryError("a parameter's name is not percent-encoded UTF-8")
            }
            guard let value = parts.count == 2 ? decoded(parts[1]) : [] else {
                throw QueryError("the value of \(quoted(name, limit: 64)) is not percent-encoded UTF-8")
            }
            return QueryParameter(name: name, value: value)
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        percentDecoded(text, plusIsBlank: true).flatMap { isUTF8($0.span) ? $0 : nil }
    }

    package var text: String { String(decoding: value, as: UTF8.self) }

    /// Unwraps a parsed value; throws an error stating what was expected if it is `nil`.
    package func required<Value>(_ value: Value?, _ expected: String) throws(QueryError) -> Value {
        guard let value else { throw QueryError("\(name) is \(quoted(text, limit: 64)), expected \(expected)") }
        return value
    }

    /// Parses digits only; numbers above 64 bits count as the largest.
    package func number(in range: ClosedRange<UInt64>, _ expected: String) throws(QueryError) -> UInt64 {
        let isNumber = !value.isEmpty && value.allSatisfy(isDigit)
        let number = isNumber ? decimalNumber(value) ?? UInt64.max : nil
        return try required(number.flatMap { range.contains($0) ? $0 : nil }, expected)
    }

    package var positive: UInt64 {
        get throws(QueryError) { try number(in: 1...UInt64.max, "a whole number, at least 1") }
    }
}
