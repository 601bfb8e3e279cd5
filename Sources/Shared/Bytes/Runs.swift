// Runs of bytes as wholes: hashing, comparing, copying, and looking for the end of a text or a number. The only unsafe code
// of this room: eight bytes are loaded at once, and runs are copied, which Swift 6.3 has no safe way for.

/// A 64-bit hash of bytes, eight at a time, each word folded in by a 64 × 64 → 128 bit multiplication.
package enum ByteHash {
    /// - Parameter seed: who does not know it cannot make bytes collide.
    package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        hash(bytes, in: bytes.indices, seed: seed)
    }

    /// The hash of a part of the bytes; as with its siblings, faster than that of an extracted part.
    package static func hash(_ bytes: Span<UInt8>, in range: Range<Int>, seed: UInt64) -> UInt64 {
        unsafe withRun(bytes, range) { bytes in
            var state = seed
            var offset = range.lowerBound
            while offset < range.upperBound {
                state = unsafe fold(state, with: word(bytes, at: offset, end: range.upperBound))
                offset &+= 8
            }
            return fold(state ^ UInt64(truncatingIfNeeded: range.count), 0xD6E8_FEB8_6659_FD93)
        }
    }

    /// One step of the hash.
    package static func fold(_ state: UInt64, with word: UInt64) -> UInt64 { fold(state ^ word, 0x9E37_79B9_7F4A_7C15) }

    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor)
        return high ^ low
    }
}

/// Whether two runs of bytes are the same.
@inlinable
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    bytesEqual(left, in: left.indices, right, in: right.indices)
}

@inlinable
package func bytesEqual(
    _ left: Span<UInt8>, in leftRange: Range<Int>, _ right: Span<UInt8>, in rightRange: Range<Int>
) -> Bool {
    guard leftRange.count == rightRange.count else { return false }
    return unsafe withRun(left, leftRange) { left in
        unsafe withRun(right, rightRange) { right in
            var (offset, other) = (leftRange.lowerBound, rightRange.lowerBound)
            while offset < leftRange.upperBound {
                let word = unsafe word(left, at: offset, end: leftRange.upperBound)
                guard unsafe word == Bytes.word(right, at: other, end: rightRange.upperBound) else { return false }
                (offset, other) = (offset &+ 8, other &+ 8)
            }
            return true
        }
    }
}

/// Whether all bytes of a part are ASCII from the space to the tilde, looked at eight at a time.
package func isPrintableASCII(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    return unsafe withRun(bytes, range) { bytes in
        var others: UInt64 = 0
        var offset = range.lowerBound
        while offset < range.upperBound {
            var word = unsafe word(bytes, at: offset, end: range.upperBound)
            // Spaces for what is behind the end.
            let rest = range.upperBound &- offset
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
            // As in ``isPrintableASCII(_:in:)``, and the top bit is also set for a quotation mark or a backslash: the
            // exclusive or makes it 0, and subtracting 1 borrows. The bits after the first such byte may be wrong.
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

/// Lends the bytes that a part is in.
@inlinable @inline(__always) @unsafe
func withRun<Result>(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the part is in the bytes")
    return unsafe bytes.withUnsafeBytes(body)
}

/// Eight bytes, the first of them the least significant; 0 for what is behind the end.
///
/// Reading past the part, where the bytes go on, avoids a branch that is mispredicted with each name of another length:
/// 10 % of the rate with 12 cities (Tests/Benchmarks).
@inlinable @inline(__always) @unsafe
func word(_ bytes: UnsafeRawBufferPointer, at offset: Int, end: Int) -> UInt64 {
    func load(_ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    let missing = UInt64(truncatingIfNeeded: max(0, 8 &- (end &- offset)) &* 8)
    if offset &+ 8 <= bytes.count { return load(offset) & (.max &>> missing) }
    if end >= 8 { return load(end &- 8) &>> missing }
    return unsafe bytes[offset..<end].reversed().reduce(0) { $0 &<< 8 | UInt64($1) }
}
