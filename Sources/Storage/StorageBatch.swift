/// Everything that changed since a version; becomes one transaction.
public struct StorageBatch: Sendable {
    /// What to ask from next, once this is written.
    public var version: UInt64
    /// Their state now and the points kept since. What the file would not restore is not written.
    public var cities: [StoredCity]
    /// Names of cities that are gone. They go first: a name may stand in `cities` as well, if it came back.
    public var removed: [[UInt8]]

    public init(version: UInt64, cities: [StoredCity] = [], removed: [[UInt8]] = []) {
        self.version = version
        self.cities = cities
        self.removed = removed
    }

    var isEmpty: Bool { cities.isEmpty && removed.isEmpty }
}
