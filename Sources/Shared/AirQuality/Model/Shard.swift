internal import Bytes

/// Part `index` of `count` parts of all cities.
///
/// The part of a city depends only on its name's bytes and never changes between versions, so that all shards, and
/// anything that routes to them, agree: `docker/README.md` states the rule with examples.
public struct Shard: Sendable, Equatable {
    /// The hash numbers its buckets in 32 bits.
    public static let maximumCount = Int(Int32.max)

    public let index: Int
    public let count: Int

    /// - Parameter count: 1 to ``maximumCount``.
    public init(index: Int, count: Int) {
        precondition((1...Self.maximumCount).contains(count) && (0..<count).contains(index))
        self.index = index
        self.count = count
    }

    /// Finds the shard of `count` that contains the city.
    public init(of name: Span<UInt8>, count: Int) {
        self.init(index: Self.jump(fnv1a(name), count: count), count: count)
    }

    public func contains(_ name: Span<UInt8>) -> Bool { Self.jump(fnv1a(name), count: count) == index }

    /// Returns the key's bucket of `count`. Going from n to n + 1 buckets moves only every (n + 1)th key, to the new
    /// one: the jump consistent hash of Lamping and Veach, https://arxiv.org/abs/1406.2294.
    static func jump(_ key: UInt64, count: Int) -> Int {
        var key = key
        var bucket = 0
        var next = 0
        while next < count {
            bucket = next
            key = key &* 2_862_933_555_777_941_757 &+ 1
            next = Int(Double(bucket &+ 1) * (0x1p31 / Double(Int(truncatingIfNeeded: key &>> 33) &+ 1)))
        }
        return bucket
    }
}

extension Shard: CustomStringConvertible {
    /// In the syntax of `--city.shard`.
    public var description: String { "\(index)/\(count)" }
}
