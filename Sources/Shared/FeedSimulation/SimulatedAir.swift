/// The AQI of each simulated city over time: its own level, a wave of a few hours and a smaller, shorter one. Both
/// waves are continuous, so that a category changes once when they cross a boundary, not with every reading.
struct SimulatedAir: Sendable {
    private let seed: UInt64
    private var levels: [Double]

    static let range = 1.0...999.0

    init(cities: Int, seed: UInt64) {
        self.seed = seed
        levels = (0..<cities).map(Self.level)
    }

    /// Real cities use values from recorded messages; most invented cities have clean air.
    private static func level(of city: Int) -> Double {
        let real: [Double] = [180, 190, 300, 200, 100, 140, 220, 200, 50, 140, 45, 75]
        guard city >= real.count else { return real[city] }
        let share = unit(mixed(UInt64(city)))
        return (20 + 430 * share * share).rounded()
    }

    mutating func moveLevel(of city: Int, by change: Double) {
        levels[city] = min(max(levels[city] + change, Self.range.lowerBound), Self.range.upperBound)
    }

    /// - Parameter time: seconds since the start of the simulation.
    func aqi(of city: Int, at time: Double) -> Double {
        // The day wave: 3 to 6 hours, 8 to 14 % of the level. The wind wave: 0.5 to 1 hour, 1 %.
        let height = 0.08 + 0.06 * chance(2, city)
        let day = height * wave(turns: time / (3600 * (3 + 3 * chance(1, city))) + chance(3, city))
        let wind = 0.01 * wave(turns: time / (1800 * (1 + chance(4, city))) + chance(5, city))
        let aqi = levels[city] * (1 + day + wind)
        return min(max(aqi, Self.range.lowerBound), Self.range.upperBound)
    }

    /// Returns a number in 0 ..< 1 that depends only on the seed, the question and the number.
    private func chance(_ question: UInt64, _ number: Int) -> Double {
        unit(mixed(mixed(seed &+ question) &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
    }
}

/// A sine-like wave of parabolas between −1 and 1, zero at each half turn.
private func wave(turns: Double) -> Double {
    let half = 2 * (turns - turns.rounded(.down))
    return half < 1 ? 4 * half * (1 - half) : 4 * (half - 1) * (half - 2)
}
