internal import Bytes

/// Hash for tables of names, similar to wyhash. The secret differs per process, so that no feed can force collisions.
struct NameHash: Sendable {
    private let start = UInt64(truncatingIfNeeded: "start".hashValue)
    private let factor = UInt64(truncatingIfNeeded: "factor".hashValue) | 1

    @inline(__always)
    func callAsFunction(_ name: Span<UInt8>) -> UInt64 {
        var hash = start &+ UInt64(name.count) &* factor
        _ = name.allWords { word in
            // Combines both halves of the product, so that each input bit affects half of the output bits.
            let product = (hash ^ word).multipliedFullWidth(by: factor)
            hash = product.high ^ product.low
            return true
        }
        return hash
    }
}
