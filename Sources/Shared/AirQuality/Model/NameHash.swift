internal import Bytes

/// A hash for tables of names, as in wyhash. Its secret is the process's, so that no feed can make names collide.
struct NameHash: Sendable {
    private let start = UInt64(truncatingIfNeeded: "start".hashValue)
    private let factor = UInt64(truncatingIfNeeded: "factor".hashValue) | 1

    @inline(__always)
    func callAsFunction(_ name: Span<UInt8>) -> UInt64 {
        var hash = start &+ UInt64(name.count) &* factor
        _ = name.allWords { word in
            // Both halves of a product: each bit of a word changes half of the result's.
            let product = (hash ^ word).multipliedFullWidth(by: factor)
            hash = product.high ^ product.low
            return true
        }
        return hash
    }
}
