internal import Bytes

/// Details that a feed may send with a city's index. Each part is kept until another comes.
public struct CityExtras: Sendable {
    /// µg/m³.
    public var concentrations: PollutantValues?
    public var subIndices: PollutantValues?
    public var place: CityPlace?

    var isEmpty: Bool { concentrations == nil && subIndices == nil && place == nil }

    mutating func update(with other: CityExtras) {
        concentrations = other.concentrations ?? concentrations
        subIndices = other.subIndices ?? subIndices
        place = other.place ?? place
    }
}

/// A number for each pollutant of which one is known.
public struct PollutantValues: Sendable {
    /// Members of the feed's object, and values of the label `pollutant`.
    public static let pollutants = Pollutant.allCases.map(\.rawValue)

    /// In the order of ``pollutants``; NaN where nothing is known.
    private var values = InlineArray<7, Double>(repeating: .nan)

    /// - Parameter pollutant: its place among ``pollutants``.
    public subscript(pollutant: Int) -> Double? {
        get { values[pollutant].isNaN ? nil : values[pollutant] }
        set { values[pollutant] = newValue ?? .nan }
    }

    /// The pollutant with the greatest value, by its place; nil when nothing is known.
    public var greatest: Int? { Self.pollutants.indices.filter { self[$0] != nil }.max { values[$0] < values[$1] } }
}

/// Position and country of a city; rendered once, because each scrape shows it.
public final class CityPlace: Sendable {
    static let members = ["country", "latitude", "longitude"]
    static let maximumCountryBytes = 64

    /// The values of the labels ``members``; what is not known is empty.
    let labels: [LabelValue]
    /// In degrees, where both are known.
    public let coordinates: (latitude: Double, longitude: Double)?

    init(country: [UInt8], latitude: Double?, longitude: Double?) {
        coordinates = latitude.flatMap { latitude in longitude.map { (latitude, $0) } }
        labels =
            [LabelValue(country)]
            + [latitude, longitude].map { number in
                var digits: [UInt8] = []
                if let number { digits.appendNumber(number) }
                return LabelValue(digits)
            }
    }
}
