/// A pollutant, in the order of the exposition. The raw value is its name in the feed and in the metrics.
public enum Pollutant: String, CaseIterable, Sendable {
    case pm25 = "pm2_5"
    case pm10, no2, so2, o3, co, nh3

    /// In µg/m³.
    static let maximumConcentration = 1e6

    /// Whether `number`, in µg/m³, can be a measurement; anything else is a code for "no value" or a defect.
    public static func isConcentration(_ number: Double) -> Bool { number >= 0 && number <= maximumConcentration }

    /// Display name.
    public var title: String {
        switch self {
        case .pm25: "PM2.5"
        case .pm10: "PM10"
        case .no2: "NO₂"
        case .so2: "SO₂"
        case .o3: "O₃"
        case .co: "CO"
        case .nh3: "NH₃"
        }
    }
}
