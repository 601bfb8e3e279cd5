/// A value, kept as long as the key that it was made for is the same.
public struct Cached<Key: Equatable, Value> {
    @usableFromInline var kept: (key: Key, value: Value)?

    public init() {}

    // Inlinable, so that it is compiled for the types of the other rooms too: each scrape looks here.
    @inlinable
    public mutating func value(for key: Key, make: () -> Value) -> Value {
        if let kept, kept.key == key { return kept.value }
        let value = make()
        kept = (key, value)
        return value
    }
}

extension Cached: Sendable where Key: Sendable, Value: Sendable {}
