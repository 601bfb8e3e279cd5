import Glibc

/// `"name":` of up to four members, compared eight bytes at a time.
struct MemberKeys {
    /// The first eight bytes of each, and which of them count.
    private var words: InlineArray<4, UInt64> = .init(repeating: 0)
    private var masks: InlineArray<4, UInt64> = .init(repeating: 0)
    private var counts: InlineArray<4, Int> = .init(repeating: 0)
    private let keys: [[UInt8]]
    let count: Int

    init(names: [[UInt8]]) {
        keys = names.map { [UInt8(ascii: "\"")] + $0 + [UInt8(ascii: "\""), UInt8(ascii: ":")] }
        count = names.count
        for (member, key) in keys.enumerated() {
            counts[member] = key.count
            for (index, byte) in key.prefix(8).enumerated() {
                words[member] |= UInt64(byte) << UInt64(index * 8)
                masks[member] |= 0xFF << UInt64(index * 8)
            }
        }
    }

    @inline(__always)
    func count(_ member: Int) -> Int { counts[member] }

    @inline(__always) @unsafe
    func match(_ member: Int, at cursor: UnsafePointer<UInt8>) -> Bool {
        let word = unsafe UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
        guard word & masks[member] == words[member] else { return false }
        return unsafe counts[member] <= 8 || matchLong(member, at: cursor)
    }

    @inline(never) @unsafe
    private func matchLong(_ member: Int, at cursor: UnsafePointer<UInt8>) -> Bool {
        // strncmp stops at the NUL behind the message, so it reads no further than that.
        unsafe keys[member].withUnsafeBufferPointer { key in
            guard let start = key.baseAddress else { return false }
            return unsafe strncmp(
                UnsafeRawPointer(cursor).assumingMemoryBound(to: CChar.self),
                UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), key.count) == 0
        }
    }
}
