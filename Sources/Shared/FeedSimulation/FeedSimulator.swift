internal import Bytes

/// The messages of a simulated feed, step by step: their form and their cities are those of the real feed, their
/// indices drift through the day as air does.
///
/// Each step has every city with the same probability, in a fixed order. Elements also have the fields `pollutants`,
/// `subindices` and `place`, unless there are more cities than `maximumDetailedCount`. The same arguments give the same
/// messages.
public struct FeedSimulator: Sendable {
    public static let maximumCityCount = 1_000_000
    /// With more cities, elements have no details: such a feed is there to be a load.
    public static let maximumDetailedCount = 1000

    private let coverage: Double
    private let drift: Double
    private let batch: Int
    /// Seconds.
    private let interval: Double
    private let cityCount: Int
    private var random: SeededGenerator
    private var air: SimulatedAir
    private var stepCount = 0
    private let beginnings: ElementBeginnings

    /// - Parameters:
    ///   - cities: 1 … `maximumCityCount`; up to twelve are the real ones, the others are invented.
    ///   - coverage: the probability that a city is in a step, 0 … 1.
    ///   - drift: how far a city's level may move each time that it is in a step; indices stay within 1 … 999.
    ///   - batch: how many cities a message has at most.
    ///   - interval: the time from step to step.
    public init(
        cities: Int = 12, coverage: Double = 0.6, seed: UInt64, drift: Double = 0, batch: Int = 10_000,
        interval: Duration = .seconds(2)
    ) {
        precondition((1...Self.maximumCityCount).contains(cities) && batch > 0)
        self.coverage = coverage
        self.drift = drift
        self.batch = batch
        self.interval = interval / .seconds(1)
        cityCount = cities
        random = SeededGenerator(seed: seed)
        air = SimulatedAir(cities: cities, seed: seed)
        beginnings = ElementBeginnings(cities: cities)
    }

    /// The messages of the next step, at least one; `[]` when no city is in it.
    public mutating func nextMessages() -> [[UInt8]] {
        var messages: [[UInt8]] = []
        nextStep { messages.append($0) }
        return messages
    }

    /// Passes on the messages of the next step one by one, each as soon as it is complete.
    public mutating func nextStep(_ send: ([UInt8]) -> Void) {
        let limit = coverage * 0x1p53
        let time = Double(stepCount) * interval
        stepCount += 1
        var message: [UInt8] = []
        var count = 0
        for city in 0..<cityCount {
            guard Double(random.next() >> 11) < limit, !air.isSilent(city, at: time) else { continue }
            if count == batch {
                message.append(UInt8(ascii: "]"))
                send(message)
                message.removeAll(keepingCapacity: true)
                count = 0
            }
            message.append(UInt8(ascii: count == 0 ? "[" : ","))
            appendElement(of: city, at: time, to: &message)
            count += 1
        }
        if count == 0 { message.append(UInt8(ascii: "[")) }
        message.append(UInt8(ascii: "]"))
        send(message)
    }

    private mutating func appendElement(of city: Int, at time: Double, to message: inout [UInt8]) {
        if drift > 0 { air.moveLevel(of: city, by: drift * (2 * random.nextUnit() - 1)) }
        let index = air.index(of: city, at: time)
        beginnings.append(city, to: &message)
        message.appendNumber(index)
        if cityCount <= Self.maximumDetailedCount { SimulatedDetails.append(of: city, index: index, to: &message) }
        message.append(UInt8(ascii: "}"))
    }
}
