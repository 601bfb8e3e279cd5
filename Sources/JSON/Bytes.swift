import Glibc

// What spans and arrays of bytes lack: a hash, comparisons, and more than a byte at a time without a reference counted.

/// A 64-bit hash of bytes, eight at a time, each word folded in by a 64 × 64 → 128 bit multiplication.
public enum ByteHash {
    /// - Parameter seed: who does not know it cannot make bytes collide.
    public static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
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

/// Eight bytes, the first of them the least significant; 0 for what is behind the end.
@inline(__always) @unsafe
private func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let missing = offset &+ 8 &- bytes.count
    if missing <= 0 { return unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    if bytes.count >= 8 {
        let last = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
        return last &>> UInt64(truncatingIfNeeded: missing &* 8)
    }
    return unsafe bytes[offset...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
}

/// Whether two runs of bytes are the same.
@inlinable
public func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    let count = left.count
    guard count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            // Names are short: a call of memcmp would cost more than the comparison.
            func words(_ offset: Int) -> Bool {
                unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            }
            guard count >= 8 else {
                for index in 0..<count where unsafe left[index] != right[index] { return false }
                return true
            }
            var offset = 0
            while offset &+ 8 <= count {
                guard words(offset) else { return false }
                offset &+= 8
            }
            // The last word overlaps the one before.
            return words(count &- 8)
        }
    }
}

/// Whether all bytes are ASCII from the space to the tilde, looked at eight at a time.
public func isPrintableASCII(_ bytes: Span<UInt8>) -> Bool {
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
public func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    let order = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right -> CInt in
            guard let start = left.baseAddress, let other = right.baseAddress else { return 0 }
            return unsafe memcmp(start, other, min(left.count, right.count))
        }
    }
    return order < 0 || (order == 0 && left.count < right.count)
}

extension MutableSpan<UInt8> {
    /// Writes the bytes of a word, the least significant first, the first of them to `offset`.
    ///
    /// All of them must be within the span.
    @inlinable
    public mutating func store<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at offset: Int) {
        // Unsafe for elements of which not every pattern of bits is a value; storeBytes looks at the bounds.
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: offset, as: Word.self)
    }

    /// Corresponds to `memmove`: the bytes may be moved over themselves.
    @inlinable
    public mutating func move(_ range: Range<Int>, by distance: Int) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= count && range.lowerBound &+ distance >= 0
                && range.upperBound &+ distance <= count, "bytes are moved within the span")
        unsafe withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            let source = unsafe start + range.lowerBound
            unsafe (source + distance).update(from: source, count: range.count)
        }
    }
}

extension OutputSpan<UInt8> {
    /// There must be room for them.
    @inlinable
    public mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeMutableBufferPointer { output, count in
                precondition(bytes.count <= output.count &- count, "the bytes are more than there is room for")
                guard let source = bytes.baseAddress, let start = output.baseAddress else { return }
                unsafe (start + count).initialize(from: source, count: bytes.count)
                count &+= bytes.count
            }
        }
    }
}
