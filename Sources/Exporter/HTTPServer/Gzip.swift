internal import CISAL
internal import CZlib
internal import Glibc

/// A gzip member (RFC 1952) made of blocks that are compressed each on its own.
///
/// Each block is raw deflate without references to the one before it and ends on a byte boundary, so the blocks of a
/// document that did not change need not be compressed again. It is one member and not one for each block, because many
/// clients take the first member of a file only.
public struct Gzip: Sendable {
    /// The header and the blocks so far.
    private var pieces = [header]
    private var checksum: UInt32 = 0
    private var length: UInt64 = 0

    public init(_ blocks: [GzipBlock] = []) {
        for block in blocks { append(block) }
    }

    public mutating func append(_ block: GzipBlock) {
        pieces.append(block.compressed)
        count(block)
    }

    /// The whole member.
    public var member: [UInt8] { pieces.flatMap(\.self) + Self.trailer(checksum: checksum, length: length) }

    /// The whole member with one block more, in pieces to be sent one after the other: nothing is copied.
    public func member(endingWith last: GzipBlock) -> [[UInt8]] {
        var whole = self
        whole.count(last)
        return pieces + [last.compressed + Self.trailer(checksum: whole.checksum, length: whole.length)]
    }

    private mutating func count(_ block: GzipBlock) {
        guard block.length > 0 else { return }
        checksum = UInt32(truncatingIfNeeded: crc32_combine(uLong(checksum), uLong(block.checksum), block.length))
        length &+= UInt64(block.length)
    }

    /// No name, no time, so that equal content is equal bytes; unknown operating system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// An empty last block, the checksum, and the length modulo 2³².
    static func trailer(checksum: UInt32, length: UInt64) -> [UInt8] {
        let words = [checksum, UInt32(truncatingIfNeeded: length)]
        return [0x03, 0x00] + words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    /// A member of these bytes, as many as there may be.
    public static func member(of bytes: Span<UInt8>) -> [UInt8] {
        var compressor = GzipCompressor()
        var gzip = Gzip()
        for start in stride(from: 0, to: bytes.count, by: blockLength) {
            gzip.append(compressor.block(bytes.extracting(start..<min(start + blockLength, bytes.count))))
        }
        return gzip.member
    }

    /// Larger blocks become hardly smaller.
    private static let blockLength = 1 << 20
}

/// A compressed part of a ``Gzip/member``.
public struct GzipBlock: Sendable, Equatable {
    public let compressed: [UInt8]
    /// CRC-32 of the plain bytes.
    public let checksum: UInt32
    /// Plain bytes.
    public let length: Int
}

/// Makes ``GzipBlock``s with ISA-L, whose state has 170 KB.
///
/// At level 1, the blocks of an exposition come out an eighth smaller than by zlib's level 1, in less than a third of
/// its time. Level 0 is a quarter faster and needs half as many bytes again, level 2 is no smaller, level 3 takes twice
/// the time.
///
/// One compressor makes the same bytes of a block each time. Another one may find other matches: ISA-L 2.30 takes a
/// hash of a register that holds the address of its state (`.write_first_byte` in igzip_icf_body_h1_gr_bt.asm), and on
/// processors of other kinds it hashes in other ways.
@safe public struct GzipCompressor: ~Copyable {
    private let stream: UnsafeMutablePointer<isal_zstream>
    private let levelBuffer: UnsafeMutablePointer<UInt8>

    public init() {
        // Zeroed, because `isal_deflate_stateless_init` leaves some members unset, such as `hist_bits`, whose default
        // is 0. `calloc` need not touch fresh memory, and two thirds of the state are for other kinds of streams.
        let state = unsafe calloc(1, MemoryLayout<isal_zstream>.stride)!
        unsafe stream = state.bindMemory(to: isal_zstream.self, capacity: 1)
        let buffer = unsafe calloc(1, Int(CISAL_LEVEL_1_BUFFER_BYTES))!
        unsafe levelBuffer = buffer.bindMemory(to: UInt8.self, capacity: Int(CISAL_LEVEL_1_BUFFER_BYTES))
    }

    /// Corresponds to `isal_deflate_stateless` with `FULL_FLUSH`, which ends on a byte boundary, and without
    /// `end_of_stream`, so that other blocks may follow. It keeps nothing from one call to the next.
    public mutating func block(_ bytes: Span<UInt8>) -> GzipBlock {
        guard bytes.count > 0 else { return GzipBlock(compressed: [], checksum: 0, length: 0) }
        // ISA-L counts in 32 bits.
        precondition(bytes.count <= 1 << 30, "a block has at most 1 GiB")
        return unsafe bytes.withUnsafeBufferPointer { input in
            let checksum = unsafe crc32_gzip_refl(0, input.baseAddress, UInt64(input.count))
            return GzipBlock(compressed: unsafe compressed(input), checksum: checksum, length: input.count)
        }
    }

    private func compressed(_ input: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        unsafe isal_deflate_stateless_init(stream)
        unsafe stream.pointee.level = 1
        unsafe stream.pointee.level_buf = levelBuffer
        unsafe stream.pointee.level_buf_size = CISAL_LEVEL_1_BUFFER_BYTES
        unsafe stream.pointee.flush = UInt16(FULL_FLUSH)
        // ISA-L does not write to the input.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(input.count)
        // What it cannot make smaller it stores, in blocks of 65,535 bytes with five bytes each. It wants room for
        // eight.
        let bound = max(8, input.count + 5 * (input.count / 65_535 + 1))
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bound) { output in
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(bound)
            let result = unsafe isal_deflate_stateless(stream)
            precondition(result == COMP_OK, "isal_deflate_stateless fails only for wrong arguments or without room")
            return unsafe Array(output[..<Int(stream.pointee.total_out)])
        }
    }

    deinit {
        unsafe free(stream)
        unsafe free(levelBuffer)
    }
}
