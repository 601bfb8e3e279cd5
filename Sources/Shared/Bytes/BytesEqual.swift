@inlinable
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for start in stride(from: 0, to: left.count, by: 8) where left.word(at: start) != right.word(at: start) {
        return false
    }
    return true
}
