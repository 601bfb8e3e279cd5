internal import Bytes
public import HTTPText

/// A parameter of a query that could be read.
public struct QueryParameter {
    public var name: String
    public var value: [UInt8]

    /// The parameters of a query, the form-encoded part of the address behind `?`, in their order.
    public static func all(in query: String) throws(QueryError) -> [QueryParameter] {
        try formFields(query).map { field throws(QueryError) in
            guard let name = field.name.map({ String(decoding: $0, as: UTF8.self) }) else {
                throw QueryError("a parameter's name is not percent-encoded UTF-8")
            }
            guard let value = field.value else {
                throw QueryError("the value of \(quoted(name, limit: 64)) is not percent-encoded UTF-8")
            }
            return QueryParameter(name: name, value: value)
        }
    }

    public var text: String { String(decoding: value, as: UTF8.self) }

    /// Returns a value that was read; throws an error that says what was expected when it is `nil`.
    public func required<Value>(_ value: Value?, _ expected: String) throws(QueryError) -> Value {
        guard let value else { throw QueryError(name, is: self.value, expected: expected) }
        return value
    }

    public func number(in range: ClosedRange<UInt64>, _ expected: String) throws(QueryError) -> UInt64 {
        try required(clampedNumber(value).flatMap { range.contains($0) ? $0 : nil }, expected)
    }

    public var positive: UInt64 {
        get throws(QueryError) { try number(in: 1...UInt64.max, "a whole number from 1 up") }
    }

    public var partOfName: [UInt8] {
        get throws(QueryError) {
            let maximum = CityName.maximumCount
            return try required(value.count <= maximum ? value : nil, "at most \(maximum) bytes")
        }
    }

    /// The latest time of a chart: the year has four digits, and no sum or product of two times overflows.
    public static let latestTime: Timestamp = 1 << 47

    /// Milliseconds since the Unix epoch.
    public func time(upTo latest: UInt64 = UInt64(latestTime)) throws(QueryError) -> Timestamp {
        Timestamp(clamping: try number(in: 0...latest, "milliseconds since the Unix epoch"))
    }
}
