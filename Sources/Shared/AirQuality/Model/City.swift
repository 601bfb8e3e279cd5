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
    /// Oldest first. The file has no categories of points: ``judge(by:isSameScale:)`` finds them.
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

    /// Gives the points their categories, and the city one that fits its index: the category in the file may be older
    /// than the readings there.
    ///
    /// - Parameter isSameScale: the city's category and its changes are of the scale in force; otherwise they are found
    ///   anew, because a category of another scale means nothing.
    mutating func judge(by rules: StoreRules, isSameScale: Bool) {
        let bounds = CategoryBounds(rules.scale, hysteresis: rules.hysteresis)
        let stored = category
        /// When a category held was last another one than the stored.
        var changedAt = updatedAt
        var held: UInt8?
        var isKnown = false
        for place in points.indices {
            // Since the last change the category held is known; before that, the first point decides without one.
            if isSameScale, !isKnown, points[place].time >= changes.changedAt ?? .min {
                (held, isKnown) = (stored, true)
            }
            let category = bounds.category(of: points[place].index, held: held)
            if category != held { changedAt = points[place].time }
            points[place].category = category
            held = category
        }
        guard isSameScale else {
            category = CategoryBounds(rules.scale, hysteresis: 0).category(of: index, held: nil)
            changes = CategoryChanges()
            return
        }
        let last = isKnown ? held : stored
        category = bounds.category(of: index, held: last)
        guard category != stored else { return }
        changes.direction = category < stored ? 1 : -1
        changes.changedAt = category == last ? changedAt : updatedAt
    }
}
