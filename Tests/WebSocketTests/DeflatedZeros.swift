/// This many zeros in a deflate stream of fixed codes (RFC 1951, section 3.2.6), without the four bytes at its end that
/// permessage-deflate leaves out.
func deflatedZeros(bytes count: Int) -> [UInt8] {
    let literal = "00110000"
    // Length 258 at distance 1.
    let run = "1100010100000"
    let (runs, rest) = max(0, count - 1).quotientAndRemainder(dividingBy: 258)
    // Fixed codes in a block that is not the last; its end; an empty stored block, aligned, whose length is left out.
    let bits =
        "010" + (count > 0 ? literal : "") + String(repeating: run, count: runs)
        + String(repeating: literal, count: rest) + "0000000" + "000"
    let digits = Array(bits.utf8)
    return stride(from: 0, to: digits.count, by: 8).map { start in
        digits[start..<min(start + 8, digits.count)].reversed().reduce(0) { $0 << 1 | $1 & 1 }
    }
}
