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
    /// The page that the city's name is sorted into.
    var page: UInt32
    var nameCount: UInt8
    /// The category held, 1 ….
    var category: UInt8

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

    public init() {}

    mutating func record(better isBetter: Bool, at time: Timestamp) {
        direction = isBetter ? 1 : -1
        changedAt = time
        if isBetter { better += 1 } else { worse += 1 }
    }
}
