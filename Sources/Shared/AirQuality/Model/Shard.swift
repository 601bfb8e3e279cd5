internal import Bytes

/// Part `index` of `count` parts of all cities.
///
/// Which part a city is in follows from its name's bytes alone and never changes, so that all shards of all versions
/// agree, and anything that routes to them: `docker/README.md` has the rule with examples.
public struct Shard: Sendable, Equatable {
    /// The hash counts in 32 bits.
    public static let maximumCount = Int(Int32.max)

    public let index: Int
    public let count: Int

    /// - Parameter count: 1 to ``maximumCount``.
    public init(index: Int, count: Int) {
        precondition((1...Self.maximumCount).contains(count) && (0..<count).contains(index))
        self.index = index
        self.count = count
    }

    /// The shard of `count` that the city of this name is in.
    public init(of name: Span<UInt8>, count: Int) {
        self.init(index: Self.jump(fnv1a(name), count: count), count: count)
    }

    public func contains(_ name: Span<UInt8>) -> Bool { Self.jump(fnv1a(name), count: count) == index }

    /// A bucket of `count` for the key. From n to n + 1 buckets only each (n + 1)th key moves, into the new one: the
    /// jump consistent hash of Lamping and Veach, https://arxiv.org/abs/1406.2294.
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
    /// As `--city.shard` takes it.
    public var description: String { "\(index)/\(count)" }
}
