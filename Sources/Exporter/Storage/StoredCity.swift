internal import Bytes

/// A point of a city's history.
public struct StoredPoint: Sendable, Equatable {
    /// Milliseconds since the Unix epoch.
    public var time: Int64
    public var index: Double

    public init(time: Int64, index: Double) {
        self.time = time
        self.index = index
    }
}

/// A city as it is in the file. All times are milliseconds since the Unix epoch, in the years 1970 … 9999.
public struct StoredCity: Sendable, Equatable {
    /// UTF-8, not empty.
    public var name: [UInt8]
    /// The current index.
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Int64
    /// When it arrived.
    public var receivedAt: Int64
    /// The category held, 1 … 6.
    public var category: UInt8
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8
    /// Nil before the first change of category.
    public var changedAt: Int64?
    public var better: UInt64
    public var worse: UInt64
    /// In a batch: category, direction, time of change and counters are as they were in an earlier one.
    public var changesAreStored = false
    /// Oldest first. Of a restored city: all, the newest `capacity` at most. In a batch: the newest, without a gap; they
    /// replace what the file has from the first of them on. So a point may be given twice, and points that memory dropped
    /// because the clock was set back leave the file too.
    public var points: [StoredPoint]

    public init(
        name: [UInt8], index: Double, updatedAt: Int64, receivedAt: Int64, category: UInt8, direction: Int8 = 0,
        changedAt: Int64? = nil, better: UInt64 = 0, worse: UInt64 = 0, points: [StoredPoint] = []
    ) {
        self.name = name
        self.index = index
        self.updatedAt = updatedAt
        self.receivedAt = receivedAt
        self.category = category
        self.direction = direction
        self.changedAt = changedAt
        self.better = better
        self.worse = worse
        self.points = points
    }
}

/// The values that cities and points may have. A value outside them is neither written nor restored.
public struct StorageLimits: Sendable {
    /// Bytes of a city's name; it has one at least.
    public var maximumNameBytes: Int
    /// From 0 up.
    public var maximumIndex: Double
    /// 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write.
    static let maximumTime: Int64 = 253_402_300_799_999

    public init(maximumNameBytes: Int, maximumIndex: Double) {
        self.maximumNameBytes = maximumNameBytes
        self.maximumIndex = maximumIndex
    }

    fileprivate func allowsIndex(_ value: Double) -> Bool { (0...maximumIndex).contains(value) }

    fileprivate func allowsTime(_ value: Int64) -> Bool { (0...Self.maximumTime).contains(value) }
}

extension StoredCity {
    /// The same rule for writing and for restoring, so that a city that is written is restored.
    func isPlausible(within limits: StorageLimits) -> Bool {
        (1...limits.maximumNameBytes).contains(name.count) && limits.allowsIndex(index)
            && limits.allowsTime(updatedAt) && limits.allowsTime(receivedAt) && changedAt.map(limits.allowsTime) ?? true
            && (1...6).contains(category) && (-1...1).contains(direction)
            && better <= Int64.max && worse <= Int64.max && isUTF8(name.span)
    }
}

extension StoredPoint {
    func isPlausible(within limits: StorageLimits) -> Bool { limits.allowsTime(time) && limits.allowsIndex(index) }
}

/// Everything that changed since a version. It is written in one transaction.
public struct StorageBatch: Sendable {
    /// What to ask from next, once this is written.
    public var version: UInt64
    /// Their state now and the points kept since.
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

/// Some of the cities of the memory.
public struct StoragePart: Sendable {
    /// With all of their points.
    public var cities: [StoredCity]
    /// Where the next part begins; nil after the last.
    public var next: Int?

    public init(cities: [StoredCity], next: Int?) {
        self.cities = cities
        self.next = next
    }
}
