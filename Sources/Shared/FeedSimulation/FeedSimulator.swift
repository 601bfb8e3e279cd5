internal import Bytes

/// The messages of a simulated feed, reproducible from the arguments: format and cities match the real feed, and
/// indices drift through the day like real ones.
///
/// Each city is in each step with the same probability, in a fixed order. Elements also have `pollutants`,
/// `subindices` and `place`, unless there are more than ``maximumDetailedCount`` cities.
public struct FeedSimulator: Sendable {
    public static let maximumCityCount = 1_000_000
    /// With more cities, as in a load test, elements have no details.
    public static let maximumDetailedCount = 1000

    private let coverage: Double
    private let drift: Double
    private let batch: Int
    /// Simulated seconds between steps.
    private let intervalSeconds: Double
    private var random: SeededGenerator
    private var air: SimulatedAir
    private var stepCount = 0
    /// Start of each city's element: `{"city":"Mumbai","aqi":`.
    private let beginnings: [[UInt8]]

    /// - Parameters:
    ///   - cities: 1 … ``maximumCityCount``; the first twelve are real, the others invented.
    ///   - coverage: the probability that a city is in a step, 0 … 1.
    ///   - drift: how far a city's level may move per step that includes it; indices stay within 1 … 999.
    ///   - batch: maximum number of cities per message.
    ///   - interval: the time between steps.
    ///   - day: how long a simulated day lasts.
    public init(
        cities: Int = 12, coverage: Double = 0.6, seed: UInt64, drift: Double = 0, batch: Int = 10_000,
        interval: Duration = .seconds(2), day: Duration = .seconds(86_400)
    ) {
        self.coverage = coverage
        self.drift = drift
        self.batch = batch
        intervalSeconds = interval / day * 86_400
        random = SeededGenerator(seed: seed)
        air = SimulatedAir(cities: cities, seed: seed)
        beginnings = (0..<cities).map { city in
            var beginning = Array("{\"city\":".utf8)
            beginning.appendJSONString(CityNames.name(city).utf8.span)
            return beginning + ",\"aqi\":".utf8
        }
    }

    /// Returns the messages of the next step, at least one: `[]` if no city is in it.
    public mutating func nextMessages() -> [[UInt8]] {
        let time = Double(stepCount) * intervalSeconds
        stepCount += 1
        let hasDetails = beginnings.count <= Self.maximumDetailedCount
        var elements: [[UInt8]] = []
        for city in beginnings.indices {
            guard random.nextUnit() < coverage else { continue }
            if drift > 0 { air.moveLevel(of: city, by: drift * (2 * random.nextUnit() - 1)) }
            let aqi = air.aqi(of: city, at: time)
            var element = beginnings[city]
            element.appendNumber(aqi)
            if hasDetails { SimulatedDetails.append(of: city, aqi: aqi, to: &element) }
            element.append(UInt8(ascii: "}"))
            elements.append(element)
        }
        return jsonArrays(of: elements, maximumCount: batch)
    }
}
