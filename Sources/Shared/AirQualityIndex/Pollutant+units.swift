public import AirQuality

extension Pollutant {
    public var isParticulateMatter: Bool { self == .pm25 || self == .pm10 }

    /// µg/m³ per ppb at EPA's reference conditions (40 CFR 50.3): 25 °C and 1013 hPa, where a mole of air occupies
    /// 24.45 litres. `nil` for particulate matter, which is not a single substance.
    public var microgramsPerPPB: Double? {
        switch self {
        case .pm25, .pm10: nil
        case .no2: 46.0055 / 24.45
        case .so2: 64.066 / 24.45
        case .o3: 47.9982 / 24.45
        case .co: 28.0101 / 24.45
        case .nh3: 17.0305 / 24.45
        }
    }
}
