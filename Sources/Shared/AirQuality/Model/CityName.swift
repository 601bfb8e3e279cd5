import Bytes

/// The rules for a city's name as a label value.
///
/// Names are bytes: two Unicode spellings of a name are two cities, and cities are sorted by their bytes. Swift's
/// `String` compares by canonical equivalence, so no name is ever compared as one.
public enum CityName {
    /// Bytes of UTF-8.
    public static let maximumCount = 128

    /// The part of well-formed UTF-8 that is the name, without surrounding ASCII white space; `nil` when there is none
    /// that may be a label value.
    @inline(__always)
    public static func accepted(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
        let range = trimmed(bytes, in: range)
        guard !range.isEmpty, range.count <= maximumCount else { return nil }
        let name = bytes.extracting(range)
        guard name.allWords(padding: spaces, isPlain) || !hasControls(name) else { return nil }
        return range
    }

    /// C0 and DEL; C1 is U+0080 … U+009F, in UTF-8 C2 80 … C2 9F.
    private static func hasControls(_ name: Span<UInt8>) -> Bool {
        name.indices.contains { index in
            let byte = name[index]
            return byte < 0x20 || byte == 0x7F || (byte == 0xC2 && name[index + 1] < 0xA0)
        }
    }

    private static let spaces: UInt64 = 0x2020_2020_2020_2020

    /// Whether eight bytes are ASCII without control characters, looked at together.
    private static func isPlain(_ word: UInt64) -> Bool {
        let highBits: UInt64 = 0x8080_8080_8080_8080
        let low = word & ~highBits
        // Sets the high bits of bytes from 0x20 on, and that of 0x7F.
        let isFrom20 = low + 0x6060_6060_6060_6060
        let is7F = low + 0x0101_0101_0101_0101
        return isFrom20 & ~is7F & ~word & highBits == highBits
    }

    /// Whether the left name's bytes come first; eight are compared at a time, for names may begin alike.
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

    /// The range without surrounding ASCII white space: space, TAB, LF, VT, FF, CR.
    static func trimmed(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 <= 0x04 }
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }
}
