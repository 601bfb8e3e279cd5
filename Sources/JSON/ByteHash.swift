/// A 64-bit hash of bytes, eight at a time, each word folded in by a 64 × 64 → 128 bit multiplication.
///
/// Seeded: who does not know the seed cannot make names collide.
public enum ByteHash {
    @inline(__always)
    static func start(_ seed: UInt64) -> UInt64 { seed }

    @inline(__always)
    static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let (high, low) = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }

    @inline(__always)
    static func finish(_ state: UInt64, count: Int) -> UInt64 {
        let (high, low) = (state ^ UInt64(truncatingIfNeeded: count)).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return high ^ low
    }

    /// The bytes of `word` that are below `count`, which is 0 … 8; the others 0.
    @inline(__always)
    static func low(_ word: UInt64, count: Int) -> UInt64 {
        count == 8 ? word : word & ((1 << UInt64(truncatingIfNeeded: count &* 8)) &- 1)
    }

    /// The hash that the texts of a ``JSONRecordReader`` with this seed have.
    public static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe hash(bytes, seed: seed)
        }
    }

    @unsafe
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var state = start(seed)
        var offset = 0
        while bytes.count &- offset >= 8 {
            state = unsafe mix(state, UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        if offset < bytes.count {
            var word: UInt64 = 0
            for index in offset..<bytes.count {
                word |= unsafe UInt64(bytes[index]) << UInt64((index &- offset) &* 8)
            }
            state = mix(state, word)
        }
        return finish(state, count: bytes.count)
    }
}
