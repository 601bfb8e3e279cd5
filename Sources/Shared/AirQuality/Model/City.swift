import Bytes

/// A city with all that survives a restart.
public struct City: Sendable, Equatable {
    /// Of the city in the storage file, from 1 up; never used again.
    public var id: Int64
    public var name: [UInt8]
    /// The current index.
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Timestamp
    /// When it arrived.
    public var receivedAt: Timestamp
    /// The category held, 1 ….
    public var category: UInt8
    public var changes: CategoryChanges
    /// Oldest first. The file has no categories of points: ``judgePoints(by:isSameScale:)`` finds them.
    public var points: [HistoryPoint]

    public init(
        id: Int64, name: [UInt8], index: Double, updatedAt: Timestamp, receivedAt: Timestamp, category: UInt8,
        changes: CategoryChanges = CategoryChanges(), points: [HistoryPoint] = []
    ) {
        self.id = id
        self.name = name
        self.index = index
        self.updatedAt = updatedAt
        self.receivedAt = receivedAt
        self.category = category
        self.changes = changes
        self.points = points
    }
}

extension City {
    /// The times that are saved: 1970-01-01 to 9999-12-31T23:59:59.999Z, the last that RFC 3339 can write.
    public static let times: ClosedRange<Timestamp> = 0...253_402_300_799_999

    /// Gives the points their categories.
    ///
    /// - Parameter isSameScale: the city's category and its changes are of the scale in force; otherwise they are found
    ///   anew, because a category of another scale means nothing.
    mutating func judgePoints(by rules: StoreRules, isSameScale: Bool) {
        var held: UInt8?
        for place in points.indices {
            // Since the last change the category held is known; before that, the first point decides without one.
            if isSameScale, points[place].time >= changes.changedAt ?? .min { held = category }
            held = rules.scale.category(of: points[place].index, held: held, hysteresis: rules.hysteresis)
            points[place].category = held ?? 1
        }
        guard !isSameScale else { return }
        category = rules.scale.category(of: index, held: nil, hysteresis: 0)
        changes = CategoryChanges()
    }
}
