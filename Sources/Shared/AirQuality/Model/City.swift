import Bytes

/// A city with all that survives a restart.
public struct City: Sendable, Equatable {
    /// Row id in the storage file; starts at 1, never reused.
    public var id: Int64
    public var name: [UInt8]
    /// The current index.
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Timestamp
    /// When the newest reading arrived.
    public var receivedAt: Timestamp
    /// Number of the category, 1 ….
    public var category: UInt8
    public var changes: CategoryChanges
    /// Points of the history, oldest first. Their categories need not be right: ``judge(by:isSameScale:)`` finds them.
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
    /// Range of the times that are saved: 1970-01-01 to 9999-12-31T23:59:59.999Z, the last that RFC 3339 can write.
    public static let times: ClosedRange<Timestamp> = 0...253_402_300_799_999

    /// Gives the points and the city the categories of the scale in force: the category in the file may be older than the
    /// readings there, or of another scale.
    ///
    /// - Parameter isSameScale: whether the stored category and its changes are of that scale; otherwise the changes begin
    ///   at zero, because a change between categories of another scale means nothing.
    mutating func judge(by bounds: CategoryBounds, isSameScale: Bool) {
        for place in points.indices { points[place].category = bounds.category(of: points[place].index) }
        let stored = category
        category = bounds.category(of: index)
        if !isSameScale {
            changes = CategoryChanges()
        } else if category != stored {
            changes.record(better: category < stored, at: updatedAt)
        }
    }
}
