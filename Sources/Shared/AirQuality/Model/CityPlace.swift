/// Position and country of a city.
public struct CityPlace: Sendable, Equatable {
    private static let maximumCountryBytes = 64
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

    /// Returns `nil` if nothing is known.
    ///
    /// - Parameters:
    ///   - country: UTF-8; counts as unknown if it is too long or has control characters.
    ///   - latitude: must be in its range, as `longitude`.
    public init?(country: Span<UInt8>, latitude: Double?, longitude: Double?) {
        let name = CityName.accepted(country, in: country.indices) ?? 0..<0
        self.country = name.count <= Self.maximumCountryBytes ? name.map { country[$0] } : []
        if self.country.isEmpty, latitude == nil, longitude == nil { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    private static func path(_ names: String...) -> [[UInt8]] { names.map { Array($0.utf8) } }
}
