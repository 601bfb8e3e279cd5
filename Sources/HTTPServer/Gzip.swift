internal import CZlib
internal import Synchronization

/// A gzip member (RFC 1952) made of blocks that are compressed each on its own.
///
/// Each block is raw deflate without references to the one before it and ends on a byte boundary, so the blocks of a
/// page that did not change are never compressed again. It is one member and not one for each block, because many
/// readers take the first member of a file only.
public struct Gzip: Sendable {
    /// The header and the blocks so far.
    private var bytes = header
    private var checksum: UInt32 = 0
    private var length: UInt64 = 0

    public init(_ blocks: [GzipBlock] = []) {
        bytes.reserveCapacity(blocks.reduce(bytes.count) { $0 + $1.compressed.count })
        for block in blocks { append(block) }
    }

    public mutating func append(_ block: GzipBlock) {
        bytes += block.compressed
        add(block)
    }

    /// The whole member, in two pieces to be sent one after the other. What was there before `last` is not copied.
    public func member(endingWith last: GzipBlock) -> [[UInt8]] {
        var end = self
        end.bytes = last.compressed
        end.add(last)
        return [bytes, end.bytes + Self.trailer(checksum: end.checksum, length: end.length)]
    }

    public static func member(of blocks: [GzipBlock]) -> [UInt8] {
        let gzip = Gzip(blocks)
        return gzip.bytes + trailer(checksum: gzip.checksum, length: gzip.length)
    }

    private mutating func add(_ block: GzipBlock) {
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
}

/// A compressed part of a `Gzip.member`.
public struct GzipBlock: Sendable, Equatable {
    public let compressed: [UInt8]
    /// CRC-32 of the plain bytes.
    public let checksum: UInt32
    /// Plain bytes.
    public let length: Int
}

/// Makes `GzipBlock`s. Any thread; one of them at a time reuses the state of the call before, others make their own.
public final class GzipCompressor: Sendable {
    private let level: Int32
    private let idle = Mutex<DeflateStream?>(nil)

    /// - Parameter level: 1, fastest, to 9, smallest.
    public init(level: Int = 1) {
        precondition((1...9).contains(level), "deflate has the levels 1 to 9")
        self.level = Int32(level)
    }

    public func block(_ bytes: Span<UInt8>) -> GzipBlock {
        var stream = idle.withLock { $0.take() }
        if stream == nil { stream = DeflateStream(level: level) }
        let block = stream!.block(bytes)
        idle.withLock { swap(&$0, &stream) }
        return block
    }
}

/// The owner of a `z_stream` for raw deflate, about 270 KB.
@safe struct DeflateStream: ~Copyable, @unchecked Sendable {
    // @unchecked: there is one owner, and only it uses the stream.
    /// On the heap: zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int32) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // Negative window bits: neither zlib's nor gzip's header. 8 is zlib's own choice of memory.
        let result = unsafe CZlib_deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY)
        precondition(result == Z_OK, "deflateInit2 fails without memory only")
    }

    /// Corresponds to `deflateReset` and `deflate` with `Z_SYNC_FLUSH`.
    mutating func block(_ bytes: Span<UInt8>) -> GzipBlock {
        guard bytes.count > 0 else { return GzipBlock(compressed: [], checksum: 0, length: 0) }
        unsafe deflateReset(stream)
        // zlib counts in 32 bits.
        precondition(bytes.count <= 1 << 30, "a block has at most 1 GiB")
        let compressed = compress(bytes)
        let checksum = unsafe bytes.withUnsafeBufferPointer { unsafe crc32_z(0, $0.baseAddress, $0.count) }
        return GzipBlock(compressed: compressed, checksum: UInt32(checksum), length: bytes.count)
    }

    private func compress(_ bytes: Span<UInt8>) -> [UInt8] {
        // The bound is for one stream with its end; what a flush needs more is less than this.
        let bound = Int(unsafe deflateBound(stream, uLong(bytes.count))) + 64
        let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            unsafe bytes.withUnsafeBufferPointer { input in
                // zlib does not write to the input.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.pointee.avail_in = uInt(input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = uInt(bound)
                let result = unsafe deflate(stream, Z_SYNC_FLUSH)
                let inputLeft = unsafe stream.pointee.avail_in
                let outputLeft = unsafe stream.pointee.avail_out
                precondition(
                    result == Z_OK && inputLeft == 0 && outputLeft > 0, "deflateBound is the most that deflate makes")
                count = bound - Int(outputLeft)
            }
        }
        // Blocks are kept for long; the bound is a little more than the plain bytes.
        return unsafe [UInt8](unsafeUninitializedCapacity: compressed.count) { output, count in
            count = unsafe output.initialize(fromContentsOf: compressed)
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }
}
