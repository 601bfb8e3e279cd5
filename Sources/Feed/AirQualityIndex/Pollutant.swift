/// A pollutant that an index is made of. The raw value is its name in the feed and in the metrics.
public enum Pollutant: String, CaseIterable, Sendable {
    case pm25 = "pm2_5"
    case pm10, no2, so2, o3, co, nh3

    public var isParticulateMatter: Bool { self == .pm25 || self == .pm10 }

    /// Grams per mole; nil for particulate matter, which is no single substance.
    private var molarMass: Double? {
        switch self {
        case .pm25, .pm10: nil
        case .no2: 46.0055
        case .so2: 64.066
        case .o3: 47.9982
        case .co: 28.0101
        case .nh3: 17.0305
        }
    }

    /// Micrograms per cubic metre that one part per billion weighs at 25 °C and 1013 hPa, where a mole of air takes
    /// 24.45 litres: the reference conditions of EPA (40 CFR 50.3). Nil for particulate matter.
    public var microgramsPerPPB: Double? { molarMass.map { $0 / 24.45 } }
}
