public import AirQualityIndex

/// The result for one city.
public struct CityFinding: Sendable, Equatable {
    /// Index of the city in the list of cities.
    public var city: Int
    public var air: Result<CityAir, AirUnavailable>

    init(city: Int, _ air: @autoclosure () throws(AirUnavailable) -> CityAir) {
        self.city = city
        self.air = Result(catching: air)
    }

    init(city: Int, reason: String) {
        self.city = city
        air = .failure(AirUnavailable(reason))
    }
}

/// The meaning of one response.
public struct SourceResponse: Sendable, Equatable {
    public var findings: [CityFinding] = []
    /// Queries that follow from this response.
    public var queries: [SourceQuery] = []
    /// Data that was left out or changed, for the log's daily summary.
    public var omissions: Set<Omission> = []
    /// The body, for the jq program of `json`.
    public var document: [UInt8]?
}
