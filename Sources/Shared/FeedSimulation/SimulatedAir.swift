/// The index of each simulated city at any time: a level of its own, a wave of some hours and a little wind.
///
/// Nothing jumps from one reading to the next, so that a category changes once where the wave crosses a boundary, and
/// not with every reading.
struct SimulatedAir: Sendable {
    private let seed: UInt64
    private var levels: [Double]

    static let range = 1.0...999.0

    init(cities: Int, seed: UInt64) {
        self.seed = seed
        levels = (0..<cities).map(Self.level)
    }

    /// The real cities have the values of recorded messages; most invented cities have clean air.
    private static func level(of city: Int) -> Double {
        let real: [Double] = [180, 190, 300, 200, 100, 140, 220, 200, 50, 140, 45, 75]
        guard city >= real.count else { return real[city] }
        let share = unit(mixed(UInt64(city)))
        return (20 + 430 * share * share).rounded()
    }

    /// Moves a city's level for good.
    mutating func moveLevel(of city: Int, by change: Double) {
        levels[city] = min(max(levels[city] + change, Self.range.lowerBound), Self.range.upperBound)
    }

    /// - Parameter time: seconds since the simulation began.
    func index(of city: Int, at time: Double) -> Double {
        // Three to six hours, 8 to 14 percent of the level.
        let period = 3600 * (3 + 3 * chance(1, city))
        let height = levels[city] * (0.08 + 0.06 * chance(2, city))
        let wave = height * sine(turns: time / period + chance(3, city))
        let index = levels[city] + wave + levels[city] * 0.01 * wind(over: city, at: time)
        return min(max(index, Self.range.lowerBound), Self.range.upperBound)
    }

    /// A number from −1 to 1 that changes every ten minutes, and slowly in between.
    private func wind(over city: Int, at time: Double) -> Double {
        let step = (time / 600).rounded(.down)
        let share = time / 600 - step
        let from = chance(4 &+ UInt64(step), city)
        let to = chance(5 &+ UInt64(step), city)
        return 2 * (from + (to - from) * share * share * (3 - 2 * share)) - 1
    }

    /// Whether an instrument is out of order: now and then one of the first twelve cities sends nothing for some
    /// minutes.
    func isSilent(_ city: Int, at time: Double) -> Bool {
        let candidates = min(levels.count, CityNames.real.count)
        guard city < candidates, candidates > 1 else { return false }
        let turn = Int(time / Self.silenceInterval)
        guard city == Int(chance(6, turn) * Double(candidates)) else { return false }
        let start = Self.silenceInterval * (0.3 + 0.3 * chance(7, turn))
        let length = 150 + 120 * chance(8, turn)
        let place = time - Double(turn) * Self.silenceInterval
        return (start...start + length).contains(place)
    }

    /// Seconds from one silence to the next, about.
    private static let silenceInterval = 1200.0

    /// 0 ..< 1, the same for the same question about the same number.
    private func chance(_ question: UInt64, _ number: Int) -> Double {
        unit(mixed(mixed(seed &+ question) &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
    }
}

/// The sine of an angle by Bhāskara's formula: off by less than 0.002. The core has no library of functions.
private func sine(turns: Double) -> Double {
    let turn = turns - turns.rounded(.down)
    let half = turn < 0.5 ? turn * 2 : turn * 2 - 1
    let product = half * (1 - half)
    let height = 16 * product / (5 - 4 * product)
    return turn < 0.5 ? height : -height
}
