/// A point of a city's history.
public struct StoredPoint: Sendable, Equatable {
    /// Milliseconds since the Unix epoch.
    public var time: Int64
    /// 0 … 9999.
    public var index: Double

    public init(time: Int64, index: Double) {
        self.time = time
        self.index = index
    }
}

/// A city as the file keeps it. All times are milliseconds since the Unix epoch, in the years 1970 … 9999.
public struct StoredCity: Sendable, Equatable {
    /// UTF-8, 1 … 128 bytes.
    public var name: [UInt8]
    /// The current index, 0 … 9999.
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Int64
    /// When it arrived.
    public var receivedAt: Int64
    /// The category held, 1 … 6.
    public var category: UInt8
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8
    /// nil before the first change of category.
    public var changedAt: Int64?
    public var better: UInt64
    public var worse: UInt64
    /// Oldest first. Of a restored city all, the newest `capacity` at most; in a batch those that are new. A point that
    /// the file has already is replaced, so that giving one twice is harmless.
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

/// What is kept and what is brought back: the same rule on both ways, so that a city written is a city restored.
extension StoredCity {
    static let maximumNameCount = 128
    /// 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write.
    static let maximumTime: Int64 = 253_402_300_799_999

    var isPlausible: Bool {
        (1...Self.maximumNameCount).contains(name.count) && isIndex(index) && isTime(updatedAt) && isTime(receivedAt)
            && (1...6).contains(category) && (-1...1).contains(direction) && changedAt.map(isTime) ?? true
            && better <= Int64.max && worse <= Int64.max && isUTF8(name)
    }
}

extension StoredPoint {
    var isPlausible: Bool { isTime(time) && isIndex(index) }
}

private func isTime(_ value: Int64) -> Bool { (0...StoredCity.maximumTime).contains(value) }

private func isIndex(_ value: Double) -> Bool { (0...9999).contains(value) }

private func isUTF8(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 < 0x80 } || (try? UTF8Span(validating: bytes.span)) != nil
}
