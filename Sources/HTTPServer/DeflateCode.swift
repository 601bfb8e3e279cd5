/// The bits that say a symbol in a deflate stream, and how many; sent least significant bit first.
struct DeflateBits: Equatable {
    var bits: UInt32
    var count: UInt32

    /// Nothing.
    static let none = DeflateBits(bits: 0, count: 0)

    func followed(by next: DeflateBits) -> DeflateBits {
        DeflateBits(bits: bits | next.bits << count, count: count + next.count)
    }
}

/// A pair of Huffman codes as a deflate block uses them (RFC 1951, section 3.2), laid out for writing.
struct DeflateCode: Sendable {
    /// What a block begins with.
    let header: [DeflateBits]
    let literals: [DeflateBits]
    /// By length, 0 to 258, extra bits included; the first three stand for nothing.
    let lengths: [DeflateBits]
    /// By distance symbol, without the extra bits.
    let distances: [DeflateBits]
    let endOfBlock: DeflateBits

    /// Corresponds to RFC 1951, section 3.2.6. It needs no room in the block.
    static let fixed = DeflateCode(
        header: [DeflateBits(bits: 0b010, count: 3)],
        symbolLengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 },
        distanceLengths: Array(repeating: 5, count: 30))

    /// A code for lines of names and numbers.
    ///
    /// It is the same for every text: to count the symbols of each block and to build a code for them would take longer
    /// than to write the block.
    static let text: DeflateCode = {
        let symbols = huffmanLengths(symbolWeights)
        let distances = huffmanLengths(distanceWeights)
        return DeflateCode(
            header: dynamicHeader(symbols, distances), symbolLengths: symbols, distanceLengths: distances)
    }()

    private init(header: [DeflateBits], symbolLengths: [Int], distanceLengths: [Int]) {
        self.header = header
        let words = canonicalWords(symbolLengths)
        literals = Array(words[..<256])
        endOfBlock = words[256]
        var lengths = Array(repeating: DeflateBits.none, count: 259)
        for length in 3...258 {
            let (symbol, extra) = Self.symbol(ofLength: length)
            lengths[length] = words[symbol].followed(by: extra)
        }
        self.lengths = lengths
        distances = canonicalWords(distanceLengths)
    }

    // MARK: - Symbols of lengths and distances (RFC 1951, section 3.2.5)

    private static func symbol(ofLength length: Int) -> (symbol: Int, extra: DeflateBits) {
        guard length < 258 else { return (285, .none) }
        let (symbol, extra) = split(UInt32(length - 3), directBits: 2)
        return (257 + symbol, extra)
    }

    /// - Parameter distance: 1 to 32,768.
    @inline(__always)
    static func symbol(ofDistance distance: Int) -> (symbol: Int, extra: DeflateBits) {
        split(UInt32(truncatingIfNeeded: distance &- 1), directBits: 1)
    }

    /// Above the values that have a symbol of their own, a symbol says the first bits of a value, and the extra bits
    /// are the rest of it.
    @inline(__always)
    private static func split(_ value: UInt32, directBits: UInt32) -> (symbol: Int, extra: DeflateBits) {
        let width = 32 &- UInt32(truncatingIfNeeded: value.leadingZeroBitCount)
        guard width > directBits &+ 1 else { return (Int(value), .none) }
        let extra = width &- directBits &- 1
        let symbol = extra << directBits &+ value >> extra
        return (Int(symbol), DeflateBits(bits: value & (1 << extra &- 1), count: extra))
    }

    // MARK: - The code for text

    /// How often to expect each literal, the end and each length, relative to each other.
    private static let symbolWeights: [Int] = (0..<286).map { symbol in
        switch symbol {
        case 0x30...0x39: 430
        case 0x2E: 300
        case 0x61...0x7A: 90
        case 0x0A, 0x20, 0x22: 60
        case 0x41...0x5A: 20
        case 0x21...0x7E: 15
        case 0x80...0xFF: 4
        case 0..<256: 2
        case 256: 8
        case 257...264: 60
        case 265...278: 160
        default: 10
        }
    }

    /// Most often one of the lines just above is meant.
    private static let distanceWeights: [Int] = (0..<30).map { symbol in
        switch symbol {
        case 11, 12: 300
        case 10, 13, 14: 80
        case 15...18: 30
        case 19...25: 6
        default: 1
        }
    }

    /// The length of each symbol's word in the shortest code for these weights.
    private static func huffmanLengths(_ weights: [Int]) -> [Int] {
        var trees = weights.enumerated().map { (weight: $0.element, symbols: [$0.offset]) }
        var lengths = Array(repeating: 0, count: weights.count)
        while trees.count > 1 {
            // The two lightest become one. Symbols of equal weight differ by number, so that the code is always the same.
            trees.sort { ($0.weight, $0.symbols[0]) > ($1.weight, $1.symbols[0]) }
            let right = trees.removeLast()
            let left = trees.removeLast()
            for symbol in left.symbols + right.symbols { lengths[symbol] += 1 }
            trees.append((left.weight + right.weight, left.symbols + right.symbols))
        }
        precondition(lengths.allSatisfy { $0 <= 15 }, "deflate has words of at most 15 bits")
        return lengths
    }

    /// The header of a block with a code of its own, not the last block (RFC 1951, section 3.2.7).
    private static func dynamicHeader(_ symbols: [Int], _ distances: [Int]) -> [DeflateBits] {
        /// In this order the lengths of the words for lengths are sent.
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        // 13 words of four bits and 6 of five are a whole code.
        let lengthOfLengths = (0..<19).map { [0, 1, 2, 13, 14, 15].contains($0) ? 5 : 4 }
        let words = canonicalWords(lengthOfLengths)
        var header = [
            DeflateBits(bits: 0b100, count: 3), DeflateBits(bits: UInt32(symbols.count - 257), count: 5),
            DeflateBits(bits: UInt32(distances.count - 1), count: 5), DeflateBits(bits: 19 - 4, count: 4),
        ]
        header += order.map { DeflateBits(bits: UInt32(lengthOfLengths[$0]), count: 3) }
        var rest = (symbols + distances)[...]
        while let length = rest.first {
            var run = rest.prefix { $0 == length }.count
            rest = rest.dropFirst(run)
            header.append(words[length])
            run -= 1
            while run > 0 {
                // Symbol 16: the length before once more, three to six times.
                let repeated = min(run, 6)
                if repeated < 3 {
                    header += Array(repeating: words[length], count: repeated)
                } else {
                    header.append(words[16].followed(by: DeflateBits(bits: UInt32(repeated - 3), count: 2)))
                }
                run -= repeated
            }
        }
        return header
    }
}

/// The words of the code with these lengths (RFC 1951, section 3.2.2), turned round, because words are sent from their
/// most significant bit on.
private func canonicalWords(_ lengths: [Int]) -> [DeflateBits] {
    var words = Array(repeating: DeflateBits.none, count: lengths.count)
    var next: UInt32 = 0
    for length in 1...15 {
        for symbol in lengths.indices where lengths[symbol] == length {
            var word: UInt32 = 0
            for bit in 0..<length { word |= (next >> bit & 1) << (length - 1 - bit) }
            words[symbol] = DeflateBits(bits: word, count: UInt32(length))
            next += 1
        }
        next <<= 1
    }
    return words
}
