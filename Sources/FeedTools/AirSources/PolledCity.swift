internal import Glibc

/// A city to report on, from the list of cities.
public struct PolledCity: Sendable, Equatable {
    /// Maximum distance between a city and its stations.
    static let maximumKilometers = 50.0

    public var name: String
    public var latitude: Double
    public var longitude: Double
    /// The source's id for it; `nil` to search by coordinates or name.
    public var id: String?
    /// ISO 3166-1 alpha-2 code, if the list has one.
    public var country: String?

    public init(name: String, latitude: Double, longitude: Double, id: String? = nil, country: String? = nil) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.id = id
        self.country = country
    }

    /// Great-circle distance (haversine) to coordinates in degrees; `nil` if they are missing or out of range.
    func kilometers(to latitude: Double?, _ longitude: Double?) -> Double? {
        guard let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let north = sin(radians(latitude - self.latitude) / 2)
        let east = sin(radians(longitude - self.longitude) / 2)
        let cosine = cos(radians(self.latitude)) * cos(radians(latitude))
        return 2 * 6371 * asin(min(1, (north * north + cosine * east * east).squareRoot()))
    }
}

/// Formats a coordinate with up to four decimals, which is 11 m: `28.6139`.
func degrees(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }
