import Bytes

/// The fields of an element besides city and AQI: concentrations, sub-indices and place.
struct SimulatedDetails: Sendable {
    /// Sub-index as a share of the city's AQI unless the pollutant is the worst, and µg/m³ per point of the
    /// sub-index, roughly as in the Indian AQI.
    private static let pollutants: [(name: String, share: Double, concentration: Double)] = [
        ("pm2_5", 0.9, 0.45), ("pm10", 0.85, 1.15), ("no2", 0.4, 0.8), ("so2", 0.15, 0.8), ("o3", 0.45, 1),
        ("co", 0.3, 20), ("nh3", 0.1, 4),
    ]

    /// Degrees north and east of the real cities, in order.
    private static let places: [(latitude: Double, longitude: Double)] = [
        (19.0728, 72.8826), (12.9719, 77.5937), (28.6519, 77.2315), (22.5626, 88.3630), (20.2724, 85.8338),
        (13.0878, 80.2785), (18.5196, 73.8554), (17.3840, 78.4564), (22.7179, 75.8333), (26.9196, 75.7878),
        (30.7363, 76.7884), (26.8393, 80.9231),
    ]

    /// Each field is preceded by a comma.
    static func append(of city: Int, aqi: Double, to message: inout [UInt8]) {
        // PM2.5 is the worst pollutant in most cities, PM10 in the others.
        let worst = mixed(UInt64(city)) % 4 == 0 ? 1 : 0
        let subIndices = pollutants.indices.map { $0 == worst ? aqi : (aqi * pollutants[$0].share).rounded() }
        append("pollutants", to: &message) { (subIndices[$0] * pollutants[$0].concentration * 10).rounded() / 10 }
        append("subindices", to: &message) { subIndices[$0] }
        let place = city < places.count ? places[city] : inventedPlace(of: city)
        message += ",\"place\":{\"latitude\":".utf8
        message.appendNumber(place.latitude)
        message += ",\"longitude\":".utf8
        message.appendNumber(place.longitude)
        message += ",\"country\":\"IN\"}".utf8
    }

    private static func append(_ field: String, to message: inout [UInt8], value: (Int) -> Double) {
        message += ",\"\(field)\":{".utf8
        for place in pollutants.indices {
            message += "\(place > 0 ? "," : "")\"\(pollutants[place].name)\":".utf8
            message.appendNumber(value(place))
        }
        message.append(UInt8(ascii: "}"))
    }

    /// A point in central India.
    private static func inventedPlace(of city: Int) -> (latitude: Double, longitude: Double) {
        func degrees(_ from: Double, _ span: Double, _ salt: UInt64) -> Double {
            ((from + span * unit(mixed(UInt64(city) &* 2 &+ salt))) * 1e4).rounded() / 1e4
        }
        return (degrees(15, 12, 0), degrees(74.5, 9, 1))
    }
}
