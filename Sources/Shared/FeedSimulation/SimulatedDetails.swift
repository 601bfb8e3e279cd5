import Bytes

/// The fields of an element beside its city and index: concentrations, sub-indices and the place.
struct SimulatedDetails: Sendable {
    private struct Pollutant {
        var name: String
        /// Sub-index as a share of the city's index where another pollutant is the worst.
        var share: Double
        /// Concentrations in µg/m³ at the sub-indices 0, 50, 100, 200, 300, 400 and 500 (CPCB, 2014).
        var limits: [Double]
    }

    private static let pollutants = [
        Pollutant(name: "pm2_5", share: 0.9, limits: [0, 30, 60, 90, 120, 250, 380]),
        Pollutant(name: "pm10", share: 0.85, limits: [0, 50, 100, 250, 350, 430, 510]),
        Pollutant(name: "no2", share: 0.4, limits: [0, 40, 80, 180, 280, 400, 520]),
        Pollutant(name: "so2", share: 0.15, limits: [0, 40, 80, 380, 800, 1600, 2400]),
        Pollutant(name: "o3", share: 0.45, limits: [0, 50, 100, 168, 208, 748, 1288]),
        Pollutant(name: "co", share: 0.3, limits: [0, 1000, 2000, 10_000, 17_000, 34_000, 51_000]),
        Pollutant(name: "nh3", share: 0.1, limits: [0, 200, 400, 800, 1200, 1800, 2400]),
    ]

    private static let indices: [Double] = [0, 50, 100, 200, 300, 400, 500]

    /// Degrees north and east of the real cities, in their order.
    private static let places: [(latitude: Double, longitude: Double)] = [
        (19.0728, 72.8826), (12.9719, 77.5937), (28.6519, 77.2315), (22.5626, 88.3630), (20.2724, 85.8338),
        (13.0878, 80.2785), (18.5196, 73.8554), (17.3840, 78.4564), (22.7179, 75.8333), (26.9196, 75.7878),
        (30.7363, 76.7884), (26.8393, 80.9231),
    ]

    /// Appends the fields, each with a comma before it.
    static func append(of city: Int, index: Double, to message: inout [UInt8]) {
        // Fine dust is the worst pollutant of most cities, coarse dust of the others.
        let worst = mixed(UInt64(city)) % 4 == 0 ? 1 : 0
        let subIndices = pollutants.indices.map { place in
            let spread = unit(mixed(UInt64(city &* 8 &+ place &+ 1)))
            return place == worst ? index : (index * pollutants[place].share * (0.75 + 0.25 * spread)).rounded()
        }
        append("pollutants", to: &message) { place in
            (concentration(at: subIndices[place], of: pollutants[place]) * 10).rounded() / 10
        }
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

    /// The concentration that has the sub-index; beyond 500 as from 400 to 500.
    private static func concentration(at subIndex: Double, of pollutant: Pollutant) -> Double {
        let step = indices.dropLast().lastIndex { $0 <= subIndex } ?? 0
        let share = (subIndex - indices[step]) / (indices[step + 1] - indices[step])
        return pollutant.limits[step] + share * (pollutant.limits[step + 1] - pollutant.limits[step])
    }

    /// Somewhere in the middle of India.
    private static func inventedPlace(of city: Int) -> (latitude: Double, longitude: Double) {
        func degrees(_ from: Double, _ span: Double, _ salt: UInt64) -> Double {
            ((from + span * unit(mixed(UInt64(city) &* 2 &+ salt))) * 1e4).rounded() / 1e4
        }
        return (degrees(15, 12, 0), degrees(74.5, 9, 1))
    }
}
