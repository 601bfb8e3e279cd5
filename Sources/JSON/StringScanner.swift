/// Strings as RFC 8259 section 7 writes them, without escapes. Eight bytes can be loaded from every byte of the memory.
enum StringScanner {
    @unsafe
    struct Plain {
        /// Where the string ends: at its closing quote.
        var end: UnsafePointer<UInt8>
        var hash: UInt64
        /// A control character of ASCII or Unicode (C0, DEL, C1).
        var hasControl: Bool
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    @inline(__always) @unsafe
    static func word(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        unsafe UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
    }

    /// A flag in the top bit of each byte of the word that a string cannot simply contain: quote, backslash, C0.
    ///
    /// A borrow may flag a byte too many, but never one below the lowest that is rightly flagged.
    @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let escapes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        return (((quotes &- ones) & ~quotes) | ((escapes &- ones) & ~escapes) | controls(word)) & tops
    }

    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word }

    @inline(__always)
    private static func deletes(_ word: UInt64) -> UInt64 {
        let deletes = word ^ (ones &* 0x7F)
        return (deletes &- ones) & ~deletes
    }

    /// Reads up to the closing quote, eight bytes at a time, and hashes on the way.
    ///
    /// - Parameter start: behind the opening quote.
    /// - Returns: nil at an escape, a control character, bytes that are no UTF-8, or the message's end.
    @inline(__always) @unsafe
    static func scan(_ start: UnsafePointer<UInt8>, seed: UInt64) -> Plain? {
        var cursor = unsafe start
        var state = ByteHash.start(seed)
        // Not 0 in the top bit of a byte when there is DEL or something beyond ASCII.
        var unusual: UInt64 = 0
        while true {
            let word = unsafe word(cursor)
            let flags = stops(word)
            guard flags == 0 else {
                let count = flags.trailingZeroBitCount / 8
                guard unsafe cursor[count] == UInt8(ascii: "\"") else { return nil }
                unsafe cursor += count
                if count > 0 {
                    let rest = ByteHash.low(word, count: count)
                    unusual |= deletes(rest) | rest
                    state = ByteHash.mix(state, rest)
                }
                guard let hasControl = unsafe unusual & tops == 0 ? false : hasControl(start, end: cursor) else {
                    return nil
                }
                let hash = unsafe ByteHash.finish(state, count: cursor - start)
                return unsafe Plain(end: cursor, hash: hash, hasControl: hasControl)
            }
            unusual |= deletes(word) | word
            state = ByteHash.mix(state, word)
            unsafe cursor += 8
        }
    }

    /// Whether there is a control character (C0, DEL, C1) in a text.
    ///
    /// - Returns: nil when it is no well-formed UTF-8.
    @inline(never) @unsafe
    static func hasControl(_ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> Bool? {
        var cursor = unsafe start
        var hasControl = false
        while unsafe cursor < end {
            let word = unsafe word(cursor)
            let flags = (controls(word) | deletes(word) | word) & tops
            guard flags != 0 else {
                unsafe cursor += 8
                continue
            }
            unsafe cursor += flags.trailingZeroBitCount / 8
            guard unsafe cursor < end else { break }
            let count = unsafe utf8SequenceCount(cursor)
            guard unsafe count > 0 && count <= end - cursor else { return nil }
            // C1 is U+0080 … U+009F, in UTF-8 C2 80 … C2 9F.
            if unsafe count == 1 || (cursor[0] == 0xC2 && cursor[1] < 0xA0) { hasControl = true }
            unsafe cursor += count
        }
        return hasControl
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
