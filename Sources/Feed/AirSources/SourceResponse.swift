public import AirQualityIndex

/// A source's result for one city.
public struct CityFinding: Sendable, Equatable {
    /// Index of the city in the list of cities.
    public var city: Int
    public var air: Result<CityAir, AirUnavailable>

    init(city: Int, _ air: Result<CityAir, AirUnavailable>) {
        self.city = city
        self.air = air
    }
}

/// The meaning of one response of a source.
public struct SourceResponse: Sendable, Equatable {
    public var findings: [CityFinding] = []
    /// Queries that follow from this response.
    public var queries: [SourceQuery] = []
    /// Data that was left out or changed, for the daily line of the log.
    public var omissions: Set<Omission> = []
    /// Body of a source that a jq program reads.
    public var document: [UInt8]?

}

/// Data of a source that was left out or changed.
public struct Omission: Sendable, Hashable {
    /// Kind of data and what was done with it, such as `stations without coordinates`.
    public var reason: String
    /// Name of the station or pollutant, as the source has it.
    public var name: String

    public init(_ reason: String, _ name: String) {
        self.reason = reason
        self.name = name
    }
}
