/// Position and country of a city.
public struct CityPlace: Sendable, Equatable {
    static let maximumCountryBytes = 64
    // Paths in the place object of a feed; the last ones are those of a GeoJSON point (RFC 7946 section 3.1.2).
    static let country = path("country")
    static let latitudes = [path("latitude"), path("lat"), path("coordinates", "1")]
    static let longitudes = [path("longitude"), path("lon"), path("lng"), path("coordinates", "0")]

    /// UTF-8 without control characters, at most 64 bytes; empty if unknown.
    public let country: [UInt8]
    /// Degrees, -90 … 90.
    public let latitude: Double?
    /// Degrees, -180 … 180.
    public let longitude: Double?

    public init(country: [UInt8], latitude: Double?, longitude: Double?) {
        self.country = country
        self.latitude = latitude
        self.longitude = longitude
    }

    private static func path(_ names: String...) -> [[UInt8]] { names.map { Array($0.utf8) } }
}
