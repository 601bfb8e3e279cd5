extension Span<UInt8> {
    /// Eight bytes as a number, the first one the lowest. Where fewer are left they are the last eight, some of which
    /// another word has too.
    ///
    /// - Parameters:
    ///   - start: a multiple of 8, less than the number of bytes.
    ///   - padding: what stands behind bytes that are fewer than eight in all.
    @inlinable @inline(__always)
    package func word(at start: Int, padding: UInt64 = 0) -> UInt64 {
        if count >= 8 { return wholeWord(at: Swift.min(start, count &- 8)) }
        let bits = 8 &* count
        let beyond = padding &<< bits
        if count >= 4 { return halfWord(at: 0) | halfWord(at: count &- 4) &<< (bits &- 32) | beyond }
        // The middle one of three bytes; of one or two it is one of the others.
        let middle = count &>> 1
        return UInt64(self[0]) | UInt64(self[middle]) &<< (8 &* middle) | UInt64(self[count &- 1]) &<< (bits &- 8)
            | beyond
    }

    /// Written so that the compiler makes one load of it.
    @inlinable @inline(__always)
    package func halfWord(at start: Int) -> UInt64 {
        let bytes = extracting(start..<start &+ 4)
        return UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
    }

    /// Written so that the compiler makes one load of it.
    @inlinable @inline(__always)
    package func wholeWord(at start: Int) -> UInt64 {
        let bytes = extracting(start..<start &+ 8)
        let first = UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
        let second = UInt64(bytes[4]) | UInt64(bytes[5]) << 8 | UInt64(bytes[6]) << 16 | UInt64(bytes[7]) << 24
        return first | second << 32
    }
}
