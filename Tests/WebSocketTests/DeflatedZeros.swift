/// So many zeros in one deflate stream of fixed codes (RFC 1951, section 3.2.6), without the four bytes at its end that
/// permessage-deflate leaves out.
func deflatedZeros(bytes count: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.append(0b010, count: 3)  // not the last block, fixed codes
    var left = count
    if left > 0 {
        bits.appendCode(0b0011_0000, count: 8)  // the literal 0
        left -= 1
    }
    while left >= 258 {
        bits.appendCode(0b1100_0101, count: 8)  // length 258
        bits.appendCode(0, count: 5)  // distance 1
        left -= 258
    }
    for _ in 0..<left { bits.appendCode(0b0011_0000, count: 8) }
    bits.appendCode(0, count: 7)  // end of the block
    bits.append(0b000, count: 3)  // an empty stored block: aligned, then its length, which is left out
    return bits.bytes
}

private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// The lowest bit first.
    mutating func append(_ value: Int, count: Int) {
        for index in 0..<count { appendBit(UInt8(value >> index & 1)) }
    }

    /// Huffman codes: the highest bit first.
    mutating func appendCode(_ value: Int, count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) { appendBit(UInt8(value >> index & 1)) }
    }

    private mutating func appendBit(_ bit: UInt8) {
        if used == 8 {
            bytes.append(0)
            used = 0
        }
        bytes[bytes.count - 1] |= bit << UInt8(used)
        used += 1
    }
}
