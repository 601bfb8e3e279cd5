/// Details that a feed may send with a city's AQI. Each part is kept until a newer one arrives. A class, because
/// most cities have none, and copying a city then costs only one reference.
public final class CityExtras: Sendable {
    /// Concentrations in µg/m³.
    public let concentrations: PollutantValues?
    public let subIndices: PollutantValues?
    public let place: CityPlace?

    public init(concentrations: PollutantValues?, subIndices: PollutantValues?, place: CityPlace?) {
        self.concentrations = concentrations
        self.subIndices = subIndices
        self.place = place
    }

    /// Returns the details with the parts that `other` has replaced by its own.
    func updated(with other: CityExtras) -> CityExtras {
        CityExtras(
            concentrations: other.concentrations ?? concentrations, subIndices: other.subIndices ?? subIndices,
            place: other.place ?? place)
    }
}
