internal import Glibc

/// A place to report on, as the list of cities has it.
public struct PolledCity: Sendable, Equatable {
    /// Greatest distance of a station that counts for a city.
    static let maximumKilometers = 50.0

    public var name: String
    public var latitude: Double
    public var longitude: Double
    /// Name that the source has for it; `nil` when it is found by its place or its name.
    public var id: String?
    /// Two letters of ISO 3166, where the list of cities has them.
    public var country: String?

    public init(name: String, latitude: Double, longitude: Double, id: String? = nil, country: String? = nil) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.id = id
        self.country = country
    }

    /// Kilometres over the globe to a place in degrees (haversine); `nil` where that is no place.
    func kilometers(to latitude: Double?, _ longitude: Double?) -> Double? {
        guard let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let north = sin(radians(latitude - self.latitude) / 2)
        let east = sin(radians(longitude - self.longitude) / 2)
        let cosine = cos(radians(self.latitude)) * cos(radians(latitude))
        return 2 * 6371 * asin(min(1, (north * north + cosine * east * east).squareRoot()))
    }
}

/// A coordinate with at most four decimals, eleven metres: `28.6139`.
func degrees(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }
