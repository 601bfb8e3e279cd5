/// The state of a city that survives a restart.
public struct City: Sendable, Equatable {
    /// Row id in the storage file; starts at 1 and is never reused.
    public var id: Int64
    public var name: [UInt8]
    public var aqi: Double
    /// Time of the newest reading.
    public var updatedAt: Timestamp
    /// When the newest reading arrived; `.max` if unknown, as after a kill.
    public var receivedAt: Timestamp
    public var changes: CategoryChanges
    /// Label of the feed that the city counts as one of, UTF-8; empty if unknown.
    public var feedLabel: [UInt8]
    public var place: CityPlace?
    /// History points, oldest first.
    public var points: [HistoryPoint]

    public init(
        id: Int64, name: [UInt8], aqi: Double, updatedAt: Timestamp, receivedAt: Timestamp,
        changes: CategoryChanges = CategoryChanges(), feedLabel: [UInt8] = [], place: CityPlace? = nil,
        points: [HistoryPoint] = []
    ) {
        self.id = id
        self.name = name
        self.aqi = aqi
        self.updatedAt = updatedAt
        self.receivedAt = receivedAt
        self.changes = changes
        self.feedLabel = feedLabel
        self.place = place
        self.points = points
    }

    /// When the newest reading arrived. A file may hold any number; within this range, ages do not overflow.
    func arrival(at now: Timestamp) -> Timestamp { min(max(receivedAt, -now), now) }
}
