/// One request to a source.
public struct SourceQuery: Sendable, Equatable {
    /// Path and query. May contain the key.
    public var path: String
    /// Header lines. May contain the key.
    public var headers: [String]
    /// Describes the request in the log.
    public var subject: String
    /// The cities requested; empty for a document about all of them.
    var cities: [Int]
    /// OpenAQ: index of the requested sensor among the city's sensors.
    var sensor: Int?

    /// Number of calls it counts as: one for each city.
    public var cost: Int { max(1, cities.count) }

    public init(path: String, headers: [String] = [], subject: String, cities: [Int] = [], sensor: Int? = nil) {
        self.path = path
        self.headers = headers
        self.subject = subject
        self.cities = cities
        self.sensor = sensor
    }

    /// The findings about its cities if it is given up.
    var unanswered: SourceResponse {
        SourceResponse(findings: cities.map { CityFinding(city: $0, reason: "the source gave no usable response") })
    }
}
