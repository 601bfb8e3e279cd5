/// The state of a city that survives a restart.
public struct City: Sendable, Equatable {
    /// Row id in the storage file; starts at 1 and is never reused.
    public var id: Int64
    public var name: [UInt8]
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Timestamp
    /// When the newest reading arrived; `.max` if unknown, as after a kill.
    public var receivedAt: Timestamp
    public var changes: CategoryChanges
    /// History points, oldest first.
    public var points: [HistoryPoint]

    public init(
        id: Int64, name: [UInt8], index: Double, updatedAt: Timestamp, receivedAt: Timestamp,
        changes: CategoryChanges = CategoryChanges(), points: [HistoryPoint] = []
    ) {
        self.id = id
        self.name = name
        self.index = index
        self.updatedAt = updatedAt
        self.receivedAt = receivedAt
        self.changes = changes
        self.points = points
    }

    /// When the newest reading arrived. A file may hold any number; within this range, ages do not overflow.
    func arrival(at now: Timestamp) -> Timestamp { min(max(receivedAt, -now), now) }
}
