internal import CLibDeflate

/// Makes `GzipBlock`s of text whose lines resemble each other, like the samples of a family: five times as fast as
/// zlib's lowest level, at the price of a sixth more bytes.
///
/// In such text, what was there before begins where a name or a number ends. So repetitions are looked for at line
/// feeds, quotes and spaces only, and in two places each; and one code serves all blocks. Any other bytes come out right
/// as well, and hardly longer than they are.
public struct GzipTextCompressor: Sendable {
    /// Where four bytes were last and the time before, by their hash.
    private var places = [SIMD2<UInt32>](repeating: .zero, count: 1 << Self.placeBits)

    private static let placeBits = 10
    /// From this length on, the other place is not looked at: it would hardly be better.
    private static let goodLength = 24

    public init() {}

    public mutating func block(_ bytes: Span<UInt8>) -> GzipBlock {
        guard bytes.count > 0 else { return GzipBlock(compressed: [], checksum: 0, length: 0) }
        precondition(bytes.count <= 1 << 30, "a block has at most 1 GiB")
        return unsafe bytes.withUnsafeBytes { bytes in
            let checksum = unsafe libdeflate_crc32(0, bytes.baseAddress, bytes.count)
            return GzipBlock(compressed: unsafe compressed(bytes), checksum: checksum, length: bytes.count)
        }
    }

    /// Ends on a byte boundary, with an empty stored block, as zlib's `Z_SYNC_FLUSH` does.
    private mutating func compressed(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        // Two bytes a literal and the header; the end of the block and what is written ahead are within the rest.
        unsafe withUnsafeTemporaryAllocation(byteCount: text.count * 2 + 512, alignment: 8) { output in
            var writer = unsafe DeflateWriter(output)
            unsafe write(text, text.count < Self.smallText ? .fixed : .text, to: &writer)
            writer.finish()
            return writer.count <= Self.storedCount(text.count)
                ? unsafe Array(output[..<writer.count]) : unsafe Self.stored(text)
        }
    }

    /// Below this, the header of a code costs more than the code saves.
    private static let smallText = 1024

    private mutating func write(_ text: UnsafeRawBufferPointer, _ code: DeflateCode, to writer: inout DeflateWriter) {
        for bits in code.header { writer.append(bits) }
        unsafe places.withUnsafeMutableBufferPointer { places in
            unsafe places.update(repeating: .zero)
            unsafe code.literals.withUnsafeBufferPointer { literals in
                var position = 0
                while position < text.count {
                    let byte = unsafe text[position]
                    if Self.isBoundary(byte), position &+ 4 <= text.count {
                        let (length, distance) = unsafe Self.repetition(at: position, in: text, places)
                        if length > 0 {
                            writer.append(length: length, distance: distance, code)
                            position &+= length
                            continue
                        }
                    }
                    unsafe writer.append(literals[Int(byte)])
                    position &+= 1
                }
            }
        }
        writer.append(code.endOfBlock)
    }

    /// How many bytes from here on are the same as where the next four were before, and how far back that is; the longer
    /// of two. No bytes when they were not there. Notes the position.
    @inline(__always)
    private static func repetition(
        at position: Int, in text: UnsafeRawBufferPointer, _ places: UnsafeMutableBufferPointer<SIMD2<UInt32>>
    ) -> (length: Int, distance: Int) {
        let here = unsafe text.baseAddress! + position
        let word = unsafe here.loadUnaligned(as: UInt32.self)
        // Fibonacci hashing.
        let slot = Int(truncatingIfNeeded: (word &* 0x9E37_79B1) >> (32 - placeBits))
        let earlier = unsafe places[slot]
        unsafe places[slot] = SIMD2(UInt32(truncatingIfNeeded: position), earlier[0])
        let limit = min(258, text.count &- position)
        var found = (length: 0, distance: 0)
        for index in 0..<2 {
            let distance = position &- Int(earlier[index])
            guard distance > 0, distance <= 32768 else { continue }
            let there = unsafe here - distance
            guard unsafe there.loadUnaligned(as: UInt32.self) == word else { continue }
            let length = unsafe commonCount(there, here, limit: limit)
            if length > found.length { found = (length, distance) }
            if length >= goodLength { break }
        }
        return found
    }

    @inline(__always)
    private static func isBoundary(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\"")
    }

    /// How many bytes are the same, up to a limit.
    @inline(__always)
    private static func commonCount(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, limit: Int) -> Int {
        var count = 0
        while count &+ 8 <= limit {
            let left = unsafe one.loadUnaligned(fromByteOffset: count, as: UInt64.self)
            let right = unsafe other.loadUnaligned(fromByteOffset: count, as: UInt64.self)
            guard left == right else { return count &+ (left ^ right).littleEndian.trailingZeroBitCount >> 3 }
            count &+= 8
        }
        while count < limit {
            let left = unsafe one.load(fromByteOffset: count, as: UInt8.self)
            let right = unsafe other.load(fromByteOffset: count, as: UInt8.self)
            guard left == right else { break }
            count &+= 1
        }
        return count
    }

    private static let storedMaximum = 65535

    private static func storedCount(_ count: Int) -> Int {
        count + 5 * (count / storedMaximum + 1)
    }

    /// Corresponds to RFC 1951, section 3.2.4.
    private static func stored(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        var blocks: [UInt8] = []
        blocks.reserveCapacity(storedCount(text.count))
        var start = 0
        while start < text.count {
            let count = UInt16(min(storedMaximum, text.count - start))
            blocks.append(0)
            for word in [count, ~count] { blocks += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)] }
            unsafe blocks.append(contentsOf: text[start..<start + Int(count)])
            start += Int(count)
        }
        return blocks
    }
}

/// Writes bits from the least significant on.
///
/// It writes up to eight bytes beyond what counts, and does not look whether there is room.
@safe private struct DeflateWriter {
    private let output: UnsafeMutableRawPointer
    private(set) var count = 0
    /// Bits that are not written yet.
    private var bits: UInt64 = 0
    private var bitCount: UInt64 = 0

    init(_ output: UnsafeMutableRawBufferPointer) {
        unsafe self.output = output.baseAddress!
    }

    @inline(__always)
    mutating func append(_ next: DeflateBits) {
        // At most 15 bits follow; a length or a distance makes room itself.
        if bitCount > 32 { writeWholeBytes() }
        add(next)
    }

    @inline(__always)
    mutating func append(length: Int, distance: Int, _ code: DeflateCode) {
        writeWholeBytes()
        // 7 bits left over, 15 and 5 for the length, 15 and 13 for the distance.
        add(code.lengths[length])
        let (symbol, extra) = DeflateCode.symbol(ofDistance: distance)
        add(code.distances[symbol])
        add(extra)
    }

    @inline(__always)
    private mutating func add(_ next: DeflateBits) {
        bits |= UInt64(next.bits) &<< bitCount
        bitCount &+= UInt64(next.count)
    }

    @inline(__always)
    private mutating func writeWholeBytes() {
        unsafe output.storeBytes(of: bits.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= Int(bitCount >> 3)
        bits &>>= bitCount & ~7
        bitCount &= 7
    }

    /// An empty stored block, which ends on a byte boundary.
    mutating func finish() {
        append(DeflateBits(bits: 0, count: 3))
        bitCount = (bitCount + 7) & ~7
        writeWholeBytes()
        append(DeflateBits(bits: 0xFFFF_0000, count: 32))
        writeWholeBytes()
    }
}
