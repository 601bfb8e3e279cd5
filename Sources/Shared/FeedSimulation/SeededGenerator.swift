/// Random numbers that are the same for the same seed, on every machine (SplitMix64, Steele, Lea and Flood 2014).
struct SeededGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// 0 ..< 1, a multiple of 2⁻⁵³: what `Math.random()` gives.
    mutating func nextUnit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        return unit(mixed(state))
    }
}

/// Spreads the bits of a number; different numbers stay different.
func mixed(_ number: UInt64) -> UInt64 {
    var number = number
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return number ^ number >> 31
}

/// 0 ..< 1 of the upper bits of a number.
func unit(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
