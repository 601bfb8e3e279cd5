@inlinable @inline(__always)
package func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    if left.count < 8 { return left.isEmpty || left.shortWord() == right.shortWord() }
    var start = 0
    while start &+ 8 < left.count {
        guard left.wholeWord(at: start) == right.wholeWord(at: start) else { return false }
        start &+= 8
    }
    return left.wholeWord(at: left.count &- 8) == right.wholeWord(at: left.count &- 8)
}
