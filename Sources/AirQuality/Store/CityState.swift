/// What is known of a city, side by side: what a reading and a scrape of it need is two cache lines.
struct CityState: Sendable {
    var index: Double
    /// Time of the newest reading.
    var updatedAt: Timestamp
    /// When it arrived. The same as `updatedAt` unless the feed says times itself.
    var receivedAt: Timestamp
    /// From this time on a reading may be a new point of the history; ``History`` decides.
    var nextPointAt: Timestamp
    /// The store's version when the category last changed.
    var categoryVersion: UInt64 = 0
    var changes = CategoryChanges()
    /// 0 when the city was removed.
    var nameCount: UInt8
    /// The category held, 1 ….
    var category: UInt8
    var nameOffset: UInt32

    /// Takes a reading's values.
    ///
    /// - Returns: whether there is more to do: another category perhaps, or a point.
    @inline(__always)
    mutating func update(
        _ reading: Reading, receivedAt: Timestamp, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        index = reading.index
        updatedAt = reading.time
        self.receivedAt = receivedAt
        return !bounds.contains(reading.index, in: category) || mayBePoint(reading.time, interval: interval)
    }

    /// Between two points nothing can be kept; a time at or before the last point is one to look at.
    @inline(__always)
    func mayBePoint(_ time: Timestamp, interval: Int64) -> Bool {
        time >= nextPointAt || time <= nextPointAt &- interval
    }

    mutating func take(_ category: UInt8, at time: Timestamp, version: UInt64) {
        changes.record(better: category < self.category, at: time)
        self.category = category
        categoryVersion = version
    }

    var isPresent: Bool { nameCount > 0 }

    var nameRange: Range<Int> {
        Int(nameOffset)..<Int(nameOffset) + Int(nameCount)
    }
}

/// What only a change of category changes.
public struct CategoryChanges: Sendable, Equatable {
    public var better: UInt64 = 0
    public var worse: UInt64 = 0
    /// nil before the first change.
    public var changedAt: Timestamp?
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8 = 0

    public init() {}

    mutating func record(better isBetter: Bool, at time: Timestamp) {
        direction = isBetter ? 1 : -1
        changedAt = time
        if isBetter { better += 1 } else { worse += 1 }
    }
}
