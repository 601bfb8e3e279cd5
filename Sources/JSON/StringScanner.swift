/// Strings as RFC 8259 section 7 writes them, without escapes.
enum StringScanner {
    @unsafe
    struct Plain {
        /// Where the string ends: at its closing quote.
        var end: UnsafePointer<UInt8>
        var hash: UInt64
        /// All of it printable ASCII.
        var isPrintable: Bool
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Reads up to the closing quote, eight bytes at a time, and hashes on the way.
    ///
    /// - Parameter start: behind the opening quote; eight bytes can be loaded from every byte of the message.
    /// - Returns: nil at an escape, a control character, bytes that are no UTF-8, or the message's end.
    @inline(__always) @unsafe
    static func scan(_ start: UnsafePointer<UInt8>, seed: UInt64) -> Plain? {
        var cursor = unsafe start
        var state = ByteHash.start(seed)
        while true {
            let word = unsafe UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            // A flag in the top bit of each byte that is not a printable ASCII character of a string's inside. A
            // borrow may flag a byte too many, but never one below the lowest that is rightly flagged.
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let escapes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let deletes = word ^ (ones &* 0x7F)
            let flags =
                (((quotes &- ones) & ~quotes) | ((escapes &- ones) & ~escapes) | ((deletes &- ones) & ~deletes)
                    | ((word &- ones &* 0x20) & ~word) | word) & tops
            guard flags == 0 else {
                let count = flags.trailingZeroBitCount / 8
                guard unsafe cursor[count] == UInt8(ascii: "\"") else {
                    return unsafe scanUnusual(start, seed: seed)
                }
                if count > 0 { state = ByteHash.mix(state, ByteHash.low(word, count: count)) }
                unsafe cursor += count
                let hash = unsafe ByteHash.finish(state, count: cursor - start)
                return unsafe Plain(end: cursor, hash: hash, isPrintable: true)
            }
            state = ByteHash.mix(state, word)
            unsafe cursor += 8
        }
    }

    /// The same, byte by byte, for strings with DEL or beyond ASCII.
    @inline(never) @unsafe
    private static func scanUnusual(_ start: UnsafePointer<UInt8>, seed: UInt64) -> Plain? {
        var cursor = unsafe start
        while true {
            switch unsafe cursor.pointee {
            case UInt8(ascii: "\""):
                let count = unsafe cursor - start
                let hash = unsafe ByteHash.hash(UnsafeBufferPointer(start: start, count: count), seed: seed)
                return unsafe Plain(end: cursor, hash: hash, isPrintable: false)
            case UInt8(ascii: "\\"), 0..<0x20:
                return nil
            case 0x20..<0x80:
                unsafe cursor += 1
            default:
                let count = unsafe utf8SequenceCount(cursor)
                guard count > 0 else { return nil }
                unsafe cursor += count
            }
        }
    }

    /// How many bytes the well-formed UTF-8 sequence at `bytes` has (table 3-7 of the Unicode standard); 0 if none.
    ///
    /// Reads no byte behind the first that does not fit, so a NUL at the end of the memory is end enough.
    @unsafe
    static func utf8SequenceCount(_ bytes: UnsafePointer<UInt8>) -> Int {
        let first = unsafe bytes[0]
        let second: ClosedRange<UInt8>
        let count: Int
        switch first {
        case 0..<0x80: return 1
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: return 0
        }
        guard unsafe second.contains(bytes[1]) else { return 0 }
        for index in 2..<max(2, count) where unsafe bytes[index] & 0xC0 != 0x80 { return 0 }
        return count
    }
}
