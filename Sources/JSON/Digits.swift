/// The nearest `Double` to `mantissa` ÷ 10^`decimals`, ties to even.
///
/// - Parameter decimals: 0 … 19, so that the power of ten fits 64 bits.
func quotient(_ mantissa: UInt64, decimals: Int) -> Double {
    let power = powersOfTen[decimals]
    // Both sides are exact doubles, so the one rounding of the division is the only one (Clinger 1990).
    if mantissa <= 1 << 53 && decimals <= 22 && power <= 1 << 53 {
        return Double(mantissa) / Double(power)
    }
    // Long division with 64 bits of quotient and a sticky bit: more than the 53 + 2 that rounding needs.
    let shift = mantissa.leadingZeroBitCount
    let numerator = mantissa << UInt64(shift)
    let scale = power.leadingZeroBitCount
    let divisor = power << UInt64(scale)
    // dividingFullWidth wants its high word below the divisor; half of the numerator always is.
    let (bits, remainder) = divisor.dividingFullWidth((numerator >> 1, numerator << 63))
    // value = bits × 2^-63 × 2^(scale - shift) × 2 / 2 …: numerator/divisor = bits / 2^63
    let sticky = remainder == 0 ? bits : bits | 1
    return rounded(sticky, exponent: scale - shift - 63)
}

/// `bits` × 2^`exponent`, rounded once; the lowest bit of `bits` is sticky.
private func rounded(_ bits: UInt64, exponent: Int) -> Double {
    // Bring the mantissa to 54 bits (one for rounding) with what is lost kept as a sticky bit.
    let excess = 64 - bits.leadingZeroBitCount - 54
    guard excess > 0 else { return Double(sign: .plus, exponent: exponent, significand: Double(bits)) }
    var kept = bits >> UInt64(excess)
    let lost = bits & ((1 << UInt64(excess)) - 1)
    let isHalf = kept & 1 == 1
    kept >>= 1
    if isHalf && (lost != 0 || kept & 1 == 1) { kept += 1 }
    return Double(sign: .plus, exponent: exponent + excess + 1, significand: Double(kept))
}

/// 10^0 … 10^19, written out so that they are in the program's image and need no first-use check.
let powersOfTen: [UInt64] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
    100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
    10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
]
