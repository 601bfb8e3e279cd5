import Bytes

/// Rules for a city's name as a label value.
///
/// Names are bytes: two Unicode spellings of a name are two cities, and cities are sorted by their bytes. Swift's
/// `String` compares by canonical equivalence, so names are never compared as strings.
public enum CityName {
    /// UTF-8 bytes.
    public static let maximumCount = 128

    /// Returns the range of well-formed UTF-8 without surrounding white space; `nil` if it is empty, longer than
    /// ``maximumCount`` or contains control characters.
    @inline(__always)
    public static func accepted(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
        let range = trimmed(bytes, in: range)
        guard !range.isEmpty, range.count <= maximumCount else { return nil }
        let name = bytes.extracting(range)
        guard name.allWords(padding: spaces, isPlain) || !hasControls(name) else { return nil }
        return range
    }

    /// Looks for C0, DEL and C1 (U+0080 … U+009F, in UTF-8 C2 80 … C2 9F).
    private static func hasControls(_ name: Span<UInt8>) -> Bool {
        name.indices.contains { index in
            let byte = name[index]
            return byte < 0x20 || byte == 0x7F || (byte == 0xC2 && name[index + 1] < 0xA0)
        }
    }

    private static let spaces: UInt64 = 0x2020_2020_2020_2020

    /// Whether all eight bytes are ASCII without control characters, tested in parallel.
    private static func isPlain(_ word: UInt64) -> Bool {
        let highBits: UInt64 = 0x8080_8080_8080_8080
        let low = word & ~highBits
        // Sets each byte's high bit if it is 0x20 or more; `is7F`, if it is 0x7F.
        let isFrom20 = low + 0x6060_6060_6060_6060
        let is7F = low + 0x0101_0101_0101_0101
        return isFrom20 & ~is7F & ~word & highBits == highBits
    }

    /// Whether the left name sorts first. Compares eight bytes at a time, because names may share long prefixes.
    static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var start = 0
        while start + 8 <= min(left.count, right.count) {
            let word = left.span.wholeWord(at: start).byteSwapped
            let other = right.span.wholeWord(at: start).byteSwapped
            if word != other { return word < other }
            start += 8
        }
        return left[start...].lexicographicallyPrecedes(right[start...])
    }

    /// Returns the range without surrounding white space: Unicode's, U+200B and U+FEFF.
    static func trimmed(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, let count = blankCount(bytes, at: start, before: end) { start += count }
        while start < end, let count = blankCount(bytes, endingAt: end, after: start) { end -= count }
        return start..<end
    }

    /// Returns the size of the white space character that begins at a position; `nil` if there is none.
    @inline(__always)
    private static func blankCount(_ bytes: Span<UInt8>, at start: Int, before end: Int) -> Int? {
        let first = bytes[start]
        if first < 0x80 { return first == 0x20 || first &- 0x09 <= 0x04 ? 1 : nil }
        return (2...3).first { count in
            start + count <= end && isBlank(bytes.extracting(start..<start + count))
        }
    }

    @inline(__always)
    private static func blankCount(_ bytes: Span<UInt8>, endingAt end: Int, after start: Int) -> Int? {
        let last = bytes[end - 1]
        if last < 0x80 { return last == 0x20 || last &- 0x09 <= 0x04 ? 1 : nil }
        return (2...3).first { count in end - count >= start && isBlank(bytes.extracting(end - count..<end)) }
    }

    /// Whether two or three bytes of UTF-8 are a character of Unicode's property White_Space, U+200B or U+FEFF.
    private static func isBlank(_ bytes: Span<UInt8>) -> Bool {
        if bytes.count == 2 { return bytes[0] == 0xC2 && (bytes[1] == 0x85 || bytes[1] == 0xA0) }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0xE1, 0x9A, 0x80), (0xE2, 0x81, 0x9F), (0xE3, 0x80, 0x80), (0xEF, 0xBB, 0xBF): return true
        // U+2000 … U+200B, U+2028, U+2029, U+202F.
        case (0xE2, 0x80, let third): return third <= 0x8B || [0xA8, 0xA9, 0xAF].contains(third)
        default: return false
        }
    }
}
