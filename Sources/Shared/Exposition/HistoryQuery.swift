public import AirQuality
internal import Bytes
public import HTTPText

/// The points that a client requests.
public struct HistoryQuery: Sendable, Equatable {
    /// Names, compared byte for byte; `nil` for all cities.
    public var cities: [[UInt8]]?
    /// Number of newest points per city; `nil` for all.
    public var limit: Int?
    /// Exclusive lower bound of the points' times; `nil` for none.
    public var since: Timestamp?

    public init() {}

    /// - Parameter query: the form-encoded part of the URL after `?`.
    public init(_ query: String) throws(QueryError) {
        var cities: [[UInt8]] = []
        for parameter in QueryParameter.all(in: query) {
            switch parameter.name {
            case "city":
                let city = try parameter.value
                guard !city.isEmpty else { throw QueryError("city is empty, expected a city's name") }
                cities.append(city)
            case "limit":
                guard limit == nil else { throw QueryError("limit is given twice") }
                limit = Int(clamping: try parameter.positive)
            case "since":
                guard since == nil else { throw QueryError("since is given twice") }
                since = try parameter.time(upTo: .max)
            default:
                throw QueryError(
                    "unknown parameter \(quoted(parameter.name, limit: 64)), expected city, limit or since")
            }
        }
        if !cities.isEmpty { self.cities = cities }
    }
}
