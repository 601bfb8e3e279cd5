// Runs of bytes as wholes. The only unsafe code of this room: eight bytes are loaded at once, which Swift 6.3 has no safe
// way for.

/// A 64-bit hash of bytes, eight at a time, each word folded in by a 64 × 64 → 128 bit multiplication.
package enum ByteHash {
    /// - Parameter seed: who does not know it cannot make bytes collide.
    package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes { bytes in
            var state = seed
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                state = unsafe fold(state ^ word(bytes, at: offset), 0x9E37_79B9_7F4A_7C15)
            }
            return fold(state ^ UInt64(truncatingIfNeeded: bytes.count), 0xD6E8_FEB8_6659_FD93)
        }
    }

    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor)
        return high ^ low
    }
}

/// Whether two runs of bytes are the same.
@inlinable
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            for offset in stride(from: 0, to: left.count, by: 8) {
                guard unsafe word(left, at: offset) == word(right, at: offset) else { return false }
            }
            return true
        }
    }
}

/// Whether all bytes are ASCII from the space to the tilde, looked at eight at a time.
package func isPrintableASCII(_ bytes: Span<UInt8>) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return unsafe bytes.withUnsafeBytes { bytes in
        var others: UInt64 = 0
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            var word = unsafe word(bytes, at: offset)
            if bytes.count &- offset < 8 { word |= ones &* 0x20 &<< UInt64((bytes.count &- offset) &* 8) }
            // A byte's top bit is set if it is beyond ASCII, if it is below the space and if it is DEL. When no byte is
            // any of these, nothing is borrowed from a byte's neighbour and nothing carried to it.
            others |= word | (word &- ones &* 0x20) | (word &+ ones)
        }
        return others & (ones &* 0x80) == 0
    }
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
package func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index]
    }
    return left.count < right.count
}

/// Eight bytes, the first of them the least significant; 0 for what is behind the end.
@inlinable @unsafe
func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let missing = offset &+ 8 &- bytes.count
    if missing <= 0 { return unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    if bytes.count >= 8 {
        let last = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
        return last &>> UInt64(truncatingIfNeeded: missing &* 8)
    }
    return unsafe bytes[offset...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
}
