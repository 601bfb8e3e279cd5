import JSON

/// The names of all cities in one block of bytes.
struct NameArena: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Bytes of names that were removed.
    private(set) var wastedCount = 0

    /// - Returns: where the name begins.
    mutating func append(_ name: Span<UInt8>) -> UInt32 {
        let offset = bytes.count
        for index in name.indices { bytes.append(name[index]) }
        return UInt32(offset)
    }

    @inline(__always)
    func isEqual(_ range: Range<Int>, to name: Span<UInt8>) -> Bool {
        bytesEqual(bytes.span.extracting(range), name)
    }

    mutating func remove(_ range: Range<Int>) {
        wastedCount += range.count
    }

    /// Whether rewriting the names would give back more than half of the memory.
    var isWasteful: Bool { wastedCount > 1 << 16 && wastedCount > bytes.count / 2 }
}
