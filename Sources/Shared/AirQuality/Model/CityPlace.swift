/// Position and country of a city.
public struct CityPlace: Sendable, Equatable {
    // Paths in the place object of a feed.
    static let countryPath = [Array("country".utf8)]
    static let latitudePath = [Array("latitude".utf8)]
    static let longitudePath = [Array("longitude".utf8)]
    static let maximumCountryBytes = 64

    /// UTF-8 without control characters, at most 64 bytes; empty if unknown.
    public let country: [UInt8]
    /// Degrees, -90 … 90.
    public let latitude: Double?
    /// Degrees, -180 … 180.
    public let longitude: Double?
}
