// Runs of bytes as wholes. The only unsafe code of this room: eight bytes are loaded at once, and runs are copied, which
// Swift 6.3 has no safe way for.

/// A 64-bit hash of bytes, eight at a time, each word folded in by a 64 × 64 → 128 bit multiplication.
package enum ByteHash {
    /// - Parameter seed: who does not know it cannot make bytes collide.
    package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes { bytes in
            var state = seed
            var offset = 0
            while offset < bytes.count {
                state = unsafe fold(state ^ word(bytes, at: offset), 0x9E37_79B9_7F4A_7C15)
                offset &+= 8
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
            var offset = 0
            while offset < left.count {
                guard unsafe word(left, at: offset) == word(right, at: offset) else { return false }
                offset &+= 8
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
        var offset = 0
        while offset < bytes.count {
            var word = unsafe word(bytes, at: offset)
            // Spaces for what is behind the end.
            let rest = bytes.count &- offset
            if rest < 8 { word |= ones &* 0x20 &<< UInt64(truncatingIfNeeded: rest &* 8) }
            // A byte's top bit is set if it is beyond ASCII, if it is below the space and if it is DEL. When no byte is
            // any of these, nothing is borrowed from a byte's neighbour and nothing carried to it.
            others |= word | (word &- ones &* 0x20) | (word &+ ones)
            offset &+= 8
        }
        return others & (ones &* 0x80) == 0
    }
}

/// Where the first byte from `start` on is that a JSON text cannot have as it is, or not without a closer look: a
/// quotation mark, a backslash, a control character or anything beyond ASCII. The end of the bytes when there is none.
@inlinable
package func plainTextEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return unsafe bytes.withUnsafeBytes { bytes in
        var offset = start
        while offset &+ 8 <= bytes.count {
            let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            // As in ``isPrintableASCII(_:)``, and a byte's top bit is also set if it is one of the two, which leaves nothing
            // to take one from. What follows the first such byte may be wrong.
            var others = word | (word &- ones &* 0x20) | (word &+ ones)
            others |= ((word ^ ones &* 0x22) &- ones) | ((word ^ ones &* 0x5C) &- ones)
            others &= ones &* 0x80
            if others != 0 { return offset &+ others.trailingZeroBitCount &>> 3 }
            offset &+= 8
        }
        while offset < bytes.count {
            let byte = unsafe bytes[offset]
            guard byte &- 0x20 < 0x5F, byte != 0x22, byte != 0x5C else { return offset }
            offset &+= 1
        }
        return offset
    }
}

/// Where the first byte from `start` on is that is no decimal digit; the end of the bytes when there is none.
@inlinable @inline(__always)
package func digitsEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return unsafe bytes.withUnsafeBytes { bytes in
        var offset = start
        while offset &+ 8 <= bytes.count {
            let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            // 0 … 9 for digits. What follows the first other byte may be wrong.
            let digits = word ^ ones &* 0x30
            let others = (digits | (digits &+ ones &* 0x76)) & (ones &* 0x80)
            if others != 0 { return offset &+ others.trailingZeroBitCount &>> 3 }
            offset &+= 8
        }
        while offset < bytes.count, unsafe isDigit(bytes[offset]) { offset &+= 1 }
        return offset
    }
}

/// Whether `part` stands in the bytes at the offset.
@inlinable
package func bytes(_ bytes: Span<UInt8>, at offset: Int, are part: Span<UInt8>) -> Bool {
    guard offset >= 0, offset <= bytes.count, part.count <= bytes.count &- offset else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
        unsafe part.withUnsafeBytes { part in
            var index = 0
            while index &+ 8 <= part.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset &+ index, as: UInt64.self)
                guard unsafe word == part.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
                index &+= 8
            }
            while index < part.count {
                guard unsafe bytes[offset &+ index] == part[index] else { return false }
                index &+= 1
            }
            return true
        }
    }
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
package func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index]
    }
    return left.count < right.count
}

extension OutputSpan<UInt8> {
    /// There must be room for them.
    @inlinable
    package mutating func append(copying bytes: Span<UInt8>) {
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

/// Eight bytes, the first of them the least significant; 0 for what is behind the end.
@inlinable @inline(__always) @unsafe
func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    func load<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Word.Type) -> UInt64 {
        unsafe UInt64(Word(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type)))
    }
    let (count, rest) = (bytes.count, bytes.count &- offset)
    if rest >= 8 { return load(offset, as: UInt64.self) }
    // Where there are fewer, loads that overlap: a loop over so few costs more than the rest of a comparison.
    if count >= 8 { return load(count &- 8, as: UInt64.self) &>> UInt64(truncatingIfNeeded: (8 &- rest) &* 8) }
    if count >= 4 {
        return load(0, as: UInt32.self)
            | load(count &- 4, as: UInt32.self) &<< UInt64(truncatingIfNeeded: (count &- 4) &* 8)
    }
    let (middle, last) = (count / 2, count &- 1)
    return load(0, as: UInt8.self) | load(middle, as: UInt8.self) &<< UInt64(truncatingIfNeeded: middle &* 8)
        | load(last, as: UInt8.self) &<< UInt64(truncatingIfNeeded: last &* 8)
}
