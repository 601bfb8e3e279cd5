/// Details that a feed may send with a city's index. Each part is kept until another comes.
///
/// A class, because most cities have none, and a copy of the cities then costs one reference for each.
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

    /// The details with those parts replaced that `other` has.
    func updated(with other: CityExtras) -> CityExtras {
        CityExtras(
            concentrations: other.concentrations ?? concentrations, subIndices: other.subIndices ?? subIndices,
            place: other.place ?? place)
    }
}
