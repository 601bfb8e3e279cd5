internal import Bytes
public import HTTPText

/// Points that a client of the history asks for.
public struct HistoryQuery: Sendable, Equatable {
    /// Names, byte for byte; `nil` for all cities.
    public var cities: [[UInt8]]?
    /// Number of points of each city, the newest ones; `nil` for all.
    public var limit: Int?
    /// Time that all points must be later than; `nil` for any.
    public var since: Timestamp?

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`.
    public init(_ query: String) throws(QueryError) {
        var cities: [[UInt8]] = []
        for field in formFields(query) {
            guard let name = field.name.map({ String(decoding: $0, as: UTF8.self) }) else {
                throw QueryError("a parameter's name is not percent-encoded UTF-8")
            }
            guard let value = field.value else {
                throw QueryError("the value of \(quoted(name, limit: 64)) is not percent-encoded UTF-8")
            }
            let parameter = QueryParameter(name: name, value: value)
            switch name {
            case "city":
                guard !value.isEmpty else { throw QueryError("city is empty, expected a city's name") }
                cities.append(value)
            case "limit":
                guard limit == nil else { throw QueryError("limit is given twice") }
                limit = Int(clamping: try parameter.positive)
            case "since":
                guard since == nil else { throw QueryError("since is given twice") }
                since = try parameter.time(upTo: .max)
            default: throw QueryError("unknown parameter \(quoted(name, limit: 64)), expected city, limit or since")
            }
        }
        if !cities.isEmpty { self.cities = cities }
    }
}
