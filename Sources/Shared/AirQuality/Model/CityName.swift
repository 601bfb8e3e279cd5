import Bytes

/// The rules for a city's name as a label value.
///
/// Names are bytes: two Unicode spellings of a name are two cities, and cities are sorted by their bytes. Swift's
/// `String` compares by canonical equivalence, so no name is ever compared as one.
public enum CityName {
    /// Bytes of UTF-8.
    public static let maximumCount = 128

    /// The part of `bytes` that is the name: surrounding ASCII white space removed; `nil` when there is none that may
    /// be a label value.
    ///
    /// - Parameter bytes: well-formed UTF-8.
    public static func accepted(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
        let range = trimmed(bytes, in: range)
        guard !range.isEmpty, range.count <= maximumCount else { return nil }
        let name = bytes.extracting(range)
        for index in name.indices {
            let byte = name[index]
            if byte &- 0x20 < 0x5F { continue }
            // C0 and DEL; C1 is U+0080 … U+009F, in UTF-8 C2 80 … C2 9F.
            if byte < 0x80 || (byte == 0xC2 && name[index + 1] < 0xA0) { return nil }
        }
        return range
    }

    /// Whether a name sorts before another, byte by byte.
    static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { bytesPrecede(left.span, right.span) }

    /// A hash for tables of names. Its secret is the process's, so that no feed can make names collide.
    static func hash(_ name: Span<UInt8>) -> UInt64 {
        let secret = secret
        var hash = secret.start
        // No name has a NUL, so that one that ends earlier has another word.
        var word: UInt64 = 0
        for index in name.indices {
            word = word << 8 | UInt64(name[index])
            if index % 8 == 7 {
                hash = folded(hash ^ word, by: secret.factor)
                word = 0
            }
        }
        return folded(hash ^ word, by: secret.factor)
    }

    /// Both halves of a product, as in wyhash: each bit of a word changes half of the result's.
    private static func folded(_ word: UInt64, by factor: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    private static let secret = (
        start: UInt64(truncatingIfNeeded: "start".hashValue),
        factor: UInt64(truncatingIfNeeded: "factor".hashValue) | 1
    )

    /// The range without surrounding ASCII white space: space, TAB, LF, VT, FF, CR.
    static func trimmed(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int> {
        Bytes.trimmed(bytes, in: range) { $0 == 0x20 || $0 &- 0x09 <= 0x04 }
    }
}
