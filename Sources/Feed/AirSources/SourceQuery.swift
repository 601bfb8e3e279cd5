/// One request to a source.
public struct SourceQuery: Sendable, Equatable {
    /// Path and query as the source documents them. May hold the key.
    public var path: String
    /// Header lines. May hold the key.
    public var headers: [String]
    /// Name of what it asks for, for a log.
    public var subject: String
    /// Cities that it asks for; none for a document of all.
    var cities: [Int]
    /// The place among the city's sensors of OpenAQ's sensor whose hours it asks for.
    var sensor: Int?

    /// The number of calls it counts for: one for each city.
    public var cost: Int { max(1, cities.count) }

    public init(
        path: String, headers: [String] = [], subject: String, cities: [Int] = [], sensor: Int? = nil
    ) {
        self.path = path
        self.headers = headers
        self.subject = subject
        self.cities = cities
        self.sensor = sensor
    }
}
