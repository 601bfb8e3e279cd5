/// Random numbers that are reproducible from a seed on every machine (SplitMix64, Steele, Lea and Flood 2014).
struct SeededGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns a multiple of 2⁻⁵³ in 0 ..< 1, as `Math.random()` does.
    mutating func nextUnit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        return unit(mixed(state))
    }
}

/// Mixes the bits of a number; a bijection.
func mixed(_ number: UInt64) -> UInt64 {
    var number = number
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return number ^ number >> 31
}

/// Maps the upper 53 bits of a number to 0 ..< 1.
func unit(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
