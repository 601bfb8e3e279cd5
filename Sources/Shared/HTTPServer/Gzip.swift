internal import CISAL
internal import Glibc

/// A gzip member (RFC 1952) whose beginning is compressed once and reused with different ends. Both parts form one
/// member, because many clients read only the first member of a file.
public struct Gzip: Sendable {
    /// The header and the compressed beginning.
    private let beginning: [UInt8]
    private let checksum: UInt32
    /// Uncompressed size of the beginning in bytes.
    private let length: Int

    /// No name and no time, so that equal content gives equal bytes; the operating system is unknown.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// - Parameter blockBytes: bytes compressed per call, at most 1 GiB because ISA-L counts in 32 bits.
    public init(_ bytes: [UInt8], blockBytes: Int = 1 << 30) {
        defer { cisal_leave_avx() }
        beginning = stride(from: 0, to: bytes.count, by: blockBytes).reduce(into: Self.header) { beginning, start in
            beginning += deflated(bytes[start...].prefix(blockBytes))
        }
        checksum = unsafe crc32_gzip_refl(0, bytes, UInt64(bytes.count))
        length = bytes.count
    }

    /// Returns the whole member in pieces to be sent in order, without copying the beginning.
    public func member(endingWith end: [UInt8] = []) -> [[UInt8]] {
        defer { cisal_leave_avx() }
        let checksum = unsafe crc32_gzip_refl(checksum, end, UInt64(end.count))
        let words = [checksum, UInt32(truncatingIfNeeded: length + end.count)]
        let trailer = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
        // 03 00 is an empty final block, which ends the deflate stream.
        return [beginning, deflated(end[...]) + [0x03, 0x00] + trailer]
    }

    public static func member(of bytes: [UInt8]) -> [UInt8] {
        let pieces = Gzip(bytes).member()
        return pieces[0] + pieces[1]
    }
}

/// Returns raw deflate data that ends on a byte boundary, so that other blocks may follow. Equal input need not give
/// equal output. Corresponds to `isal_deflate_stateless` with `FULL_FLUSH`.
///
/// For an exposition, level 1 is an eighth smaller than zlib's level 1 in less than a third of the time. Level 0 is
/// half as large again, level 2 no smaller, and level 3 takes twice as long.
private func deflated(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard !bytes.isEmpty else { return [] }
    // Zeroed, because `isal_deflate_stateless_init` leaves some fields unset, such as `hist_bits`, which defaults to 0.
    let memory = unsafe calloc(1, MemoryLayout<isal_zstream>.stride)!
    defer { unsafe free(memory) }
    let stream = unsafe memory.bindMemory(to: isal_zstream.self, capacity: 1)
    let levelBuffer = unsafe calloc(1, Int(CISAL_LEVEL_1_BUFFER_BYTES))!
    defer { unsafe free(levelBuffer) }
    unsafe isal_deflate_stateless_init(stream)
    unsafe stream.pointee.level = 1
    unsafe stream.pointee.level_buf = levelBuffer.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.level_buf_size = CISAL_LEVEL_1_BUFFER_BYTES
    unsafe stream.pointee.flush = UInt16(FULL_FLUSH)
    // Incompressible data is stored in blocks of 65,535 bytes plus five. ISA-L requires room for at least eight bytes.
    let bound = max(8, bytes.count + 5 * (bytes.count / 65_535 + 1))
    return unsafe bytes.withUnsafeBufferPointer { input in
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bound) { output in
            // ISA-L does not write to the input.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(bound)
            let result = unsafe isal_deflate_stateless(stream)
            precondition(result == COMP_OK, "isal_deflate_stateless fails only for wrong arguments or without room")
            return unsafe Array(output[..<Int(stream.pointee.total_out)])
        }
    }
}
