@inlinable
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for start in stride(from: 0, to: left.count, by: 8) where left.word(at: start) != right.word(at: start) {
        return false
    }
    return true
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
package func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return left[index] < right[index]
    }
    return left.count < right.count
}
