@inlinable @inline(__always)
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var start = 0
    while start < left.count {
        if left.word(at: start) != right.word(at: start) { return false }
        start &+= 8
    }
    return true
}
