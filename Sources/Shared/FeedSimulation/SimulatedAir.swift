/// The index of each simulated city at any time: a level of its own, a wave of some hours and a smaller, shorter one.
/// Nothing jumps, so that a category changes once where the wave crosses a boundary, not with every reading.
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

    mutating func moveLevel(of city: Int, by change: Double) {
        levels[city] = min(max(levels[city] + change, Self.range.lowerBound), Self.range.upperBound)
    }

    /// - Parameter time: seconds since the simulation began.
    func index(of city: Int, at time: Double) -> Double {
        // Three to six hours, 8 to 14 percent of the level; and half an hour to an hour, 1 percent.
        let height = 0.08 + 0.06 * chance(2, city)
        let day = height * wave(turns: time / (3600 * (3 + 3 * chance(1, city))) + chance(3, city))
        let wind = 0.01 * wave(turns: time / (1800 * (1 + chance(4, city))) + chance(5, city))
        let index = levels[city] * (1 + day + wind)
        return min(max(index, Self.range.lowerBound), Self.range.upperBound)
    }

    /// Whether an instrument is out of order: now and then one of the first twelve cities is silent for some minutes.
    func isSilent(_ city: Int, at time: Double) -> Bool {
        let candidates = min(levels.count, CityNames.real.count)
        guard city < candidates, candidates > 1 else { return false }
        // In the middle of each twenty minutes.
        let turn = Int(time / 1200)
        let start = Double(turn) * 1200 + 480
        let length = 150 + 90 * chance(7, turn)
        return city == Int(chance(6, turn) * Double(candidates)) && (start...start + length).contains(time)
    }

    /// 0 ..< 1, the same for the same question about the same number.
    private func chance(_ question: UInt64, _ number: Int) -> Double {
        unit(mixed(mixed(seed &+ question) &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
    }
}

/// A wave between −1 and 1 that is 0 at each half turn: parabolas, which look like a sine.
private func wave(turns: Double) -> Double {
    let half = 2 * (turns - turns.rounded(.down))
    return half < 1 ? 4 * half * (1 - half) : 4 * (half - 1) * (half - 2)
}
