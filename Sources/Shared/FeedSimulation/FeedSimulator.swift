internal import Bytes

/// The messages of a simulated feed, step by step: their shape, cities and values are those of the real feed.
///
/// Each step has every city with the same probability, in a fixed order. A city's index is a constant of its own plus
/// noise between −2 and +4, so that five of the twelve real cities cross a boundary of the Indian scale all the time,
/// as they did. The same arguments give the same messages.
public struct FeedSimulator: Sendable {
    public static let maximumCityCount = 1_000_000

    private let coverage: Double
    private let drift: Double
    private let batch: Int
    private var random: SeededGenerator
    /// One constant per city.
    private var constants: [Double]
    private let beginnings: ElementBeginnings

    /// - Parameters:
    ///   - cities: 1 … `maximumCityCount`; up to twelve are the real ones, the others are invented.
    ///   - coverage: the probability that a city is in a step, 0 … 1.
    ///   - drift: how far a city's constant may move each time that it is in a step; indices stay within 1 … 999.
    ///   - batch: how many cities a message has at most.
    public init(cities: Int = 12, coverage: Double = 0.6, seed: UInt64, drift: Double = 0, batch: Int = 10_000) {
        precondition((1...Self.maximumCityCount).contains(cities) && batch > 0)
        self.coverage = coverage
        self.drift = drift
        self.batch = batch
        random = SeededGenerator(seed: seed)
        constants = (0..<cities).map(Self.constant)
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
        let expectedBytes = 2 + min(batch, Int(coverage * Double(constants.count) * 1.2) + 12) * 52
        var message: [UInt8] = []
        var count = 0
        for city in constants.indices {
            guard Double(random.next() >> 11) < limit else { continue }
            if count == batch {
                message.append(UInt8(ascii: "]"))
                send(message)
                message = []
                count = 0
            }
            if count == 0 {
                message.reserveCapacity(expectedBytes)
                message.append(UInt8(ascii: "["))
            } else {
                message.append(UInt8(ascii: ","))
            }
            beginnings.append(city, to: &message)
            message.appendNumber(nextIndex(of: city))
            message.append(UInt8(ascii: "}"))
            count += 1
        }
        if count == 0 { message.append(UInt8(ascii: "[")) }
        message.append(UInt8(ascii: "]"))
        send(message)
    }

    private static let noise = -2.0...4.0

    private mutating func nextIndex(of city: Int) -> Double {
        if drift > 0 {
            let moved = constants[city] + drift * (2 * random.nextUnit() - 1)
            constants[city] = min(max(moved, 1 - Self.noise.lowerBound), 999 - Self.noise.upperBound)
        }
        return constants[city] + Self.noise.lowerBound
            + (Self.noise.upperBound - Self.noise.lowerBound) * random.nextUnit()
    }

    /// The real cities have the values of recorded messages; most invented cities have clean air.
    private static func constant(of city: Int) -> Double {
        let real: [Double] = [180, 190, 300, 200, 100, 140, 220, 200, 50, 140, 45, 75]
        guard city >= real.count else { return real[city] }
        let share = unit(mixed(UInt64(city)))
        return (20 + 430 * share * share).rounded()
    }
}

/// `{"city":"Mumbai","aqi":` of each city, rendered once, in one array.
private struct ElementBeginnings: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [UInt32] = [0]

    init(cities: Int) {
        ends.reserveCapacity(cities + 1)
        for city in 0..<cities {
            bytes += "{\"city\":".utf8
            bytes.appendJSONString(CityNames.name(city).utf8.span)
            bytes += ",\"aqi\":".utf8
            ends.append(UInt32(bytes.count))
        }
    }

    func append(_ city: Int, to message: inout [UInt8]) { message += bytes[Int(ends[city])..<Int(ends[city + 1])] }
}

/// Random numbers that are the same for the same seed, on every machine (SplitMix64, Steele, Lea and Flood 2014).
struct SeededGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return mixed(state)
    }

    /// 0 ..< 1, a multiple of 2⁻⁵³: what `Math.random()` gives.
    mutating func nextUnit() -> Double { unit(next()) }
}

/// Spreads the bits of a number; different numbers stay different.
func mixed(_ number: UInt64) -> UInt64 {
    var number = number
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return number ^ number >> 31
}

func unit(_ bits: UInt64) -> Double { Double(bits >> 11) * 0x1p-53 }
