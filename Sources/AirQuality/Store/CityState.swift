/// What every reading of a city changes, on one cache line.
struct CityState: Sendable {
    var index: Double
    /// Time of the newest reading.
    var updatedAt: Timestamp
    /// When it arrived. The same as `updatedAt` unless the feed says times itself.
    var receivedAt: Timestamp
    /// From this time on a reading may be a new point of the history; ``History`` decides.
    var nextPointAt: Timestamp
    /// The store's version at the last reading.
    var version: UInt64
    var nameOffset: UInt32
    /// 0 when the city was removed.
    var nameCount: UInt8
    /// The category held, 1 ….
    var category: UInt8

    /// Takes a reading's values.
    ///
    /// - Returns: whether there is more to do: another category perhaps, or a point.
    @inline(__always)
    mutating func update(
        _ reading: Reading, receivedAt: Timestamp, version: UInt64, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        self.version = version
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

    var isPresent: Bool { nameCount > 0 }

    var nameRange: Range<Int> {
        Int(nameOffset)..<Int(nameOffset) + Int(nameCount)
    }
}

/// What only a change of category changes.
public struct CategoryChanges: Sendable, Equatable {
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8 = 0
    /// nil before the first change.
    public var changedAt: Timestamp?
    public var better: UInt64 = 0
    public var worse: UInt64 = 0
    /// The store's version at the last change; not compared.
    var version: UInt64 = 0

    public init() {}

    public static func == (left: CategoryChanges, right: CategoryChanges) -> Bool {
        left.direction == right.direction && left.changedAt == right.changedAt && left.better == right.better
            && left.worse == right.worse
    }

    mutating func record(better isBetter: Bool, at time: Timestamp, version: UInt64) {
        self.version = version
        direction = isBetter ? 1 : -1
        changedAt = time
        if isBetter { better += 1 } else { worse += 1 }
    }
}
