internal import Bytes

/// A parameter of a form-encoded query (WHATWG URL Standard, section 5.1): `+` is a space, `%41` is A.
package struct QueryParameter {
    /// Decoded if possible, otherwise as sent, which no known name equals.
    package let name: String
    private let encodedValue: Substring.UTF8View

    /// Splits a query, the part of a URL after `?`, into its parameters in their order.
    package static func all(in query: String) -> [QueryParameter] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = decoded(parts[0]) ?? Array(parts[0])
            return QueryParameter(
                name: String(decoding: name, as: UTF8.self), encodedValue: parts.count == 2 ? parts[1] : "".utf8[...])
        }
    }

    /// Well-formed UTF-8. Decoded only here, so that readers can ignore parameters that they do not know.
    package var value: [UInt8] {
        get throws(QueryError) {
            if let value = Self.decoded(encodedValue) { return value }
            throw QueryError("the value of \(quoted(name, limit: 64)) is not percent-encoded UTF-8")
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        percentDecoded(text, plusIsBlank: true).flatMap { isUTF8($0.span) ? $0 : nil }
    }

    package var text: String {
        get throws(QueryError) { String(decoding: try value, as: UTF8.self) }
    }

    /// Unwraps a parsed value; throws an error stating what was expected if it is `nil`.
    package func required<Value>(_ value: Value?, _ expected: String) throws(QueryError) -> Value {
        guard let value else { throw QueryError("\(name) is \(quoted(try text, limit: 64)), expected \(expected)") }
        return value
    }

    /// Parses digits only; numbers above 64 bits count as the largest.
    package func number(in range: ClosedRange<UInt64>, _ expected: String) throws(QueryError) -> UInt64 {
        let value = try value
        let isNumber = !value.isEmpty && value.allSatisfy(isDigit)
        let number = isNumber ? decimalNumber(value) ?? UInt64.max : nil
        return try required(number.flatMap { range.contains($0) ? $0 : nil }, expected)
    }

    package var positive: UInt64 {
        get throws(QueryError) { try number(in: 1...UInt64.max, "a whole number, at least 1") }
    }
}
