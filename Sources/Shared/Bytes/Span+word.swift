extension Span<UInt8> {
    /// Passes all bytes as little-endian words of eight; the last word may overlap the one before it.
    ///
    /// - Parameters:
    ///   - padding: fills the word if there are fewer than eight bytes in all.
    ///   - isMet: returns whether to go on.
    /// - Returns: whether `isMet` held for all words; true if there are no bytes.
    @inlinable @inline(__always)
    package func allWords(padding: UInt64 = 0, _ isMet: (UInt64) -> Bool) -> Bool {
        guard count >= 8 else { return isEmpty || isMet(shortWord(padding: padding)) }
        var start = 0
        while start &+ 8 < count {
            guard isMet(wholeWord(at: start)) else { return false }
            start &+= 8
        }
        return isMet(wholeWord(at: count &- 8))
    }

    /// Packs one to seven bytes, followed by the padding.
    @inlinable @inline(__always)
    package func shortWord(padding: UInt64 = 0) -> UInt64 {
        let bits = 8 &* count
        let beyond = padding &<< bits
        if count >= 4 { return halfWord(at: 0) | halfWord(at: count &- 4) &<< (bits &- 32) | beyond }
        // The middle one of three bytes; with one or two bytes it repeats another.
        let middle = count &>> 1
        return UInt64(self[0]) | UInt64(self[middle]) &<< (8 &* middle) | UInt64(self[count &- 1]) &<< (bits &- 8)
            | beyond
    }

    /// Written so that the compiler emits a single load.
    @inlinable @inline(__always)
    package func halfWord(at start: Int) -> UInt64 {
        let bytes = extracting(start..<start &+ 4)
        return UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
    }

    /// Written so that the compiler emits a single load.
    @inlinable @inline(__always)
    package func wholeWord(at start: Int) -> UInt64 {
        let bytes = extracting(start..<start &+ 8)
        let first = UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
        let second = UInt64(bytes[4]) | UInt64(bytes[5]) << 8 | UInt64(bytes[6]) << 16 | UInt64(bytes[7]) << 24
        return first | second << 32
    }
}

/// Whether the texts are equal, compared a word at a time.
@inlinable @inline(__always)
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    if left.count < 8 { return left.isEmpty || left.shortWord() == right.shortWord() }
    var start = 0
    while start &+ 8 < left.count {
        guard left.wholeWord(at: start) == right.wholeWord(at: start) else { return false }
        start &+= 8
    }
    return left.wholeWord(at: left.count &- 8) == right.wholeWord(at: left.count &- 8)
}
