// Operations on ranges of bytes.

/// A 64-bit hash that is the same in every process. Anyone can make bytes collide: never the key of a table.
package enum ByteHash {
    package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var state = seed
        for index in bytes.indices { state = fold(state, with: UInt64(bytes[index])) }
        return fold(state, with: UInt64(bytes.count))
    }

    /// One step of the hash.
    package static func fold(_ state: UInt64, with word: UInt64) -> UInt64 {
        let (high, low) = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}

package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
package func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index]
    }
    return left.count < right.count
}

extension OutputSpan<UInt8> {
    /// There must be room for them.
    @inlinable
    package mutating func append(copying bytes: Span<UInt8>) {
        for index in bytes.indices { append(bytes[index]) }
    }
}
