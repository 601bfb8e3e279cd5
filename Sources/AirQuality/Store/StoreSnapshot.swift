/// The store's state at one moment, shared with it until either changes.
public struct StoreSnapshot: Sendable {
    public let version: UInt64
    let names: NameArena
    let states: CityStates
    let order: CityOrder
    public let feeds: [FeedStatistics]
    let feedsVersion: UInt64
    public let cityCount: Int
    let pointCount: Int
    let expiredCount: UInt64
}

/// The points of all cities at one moment.
struct HistorySnapshot: Sendable {
    let startedAt: Timestamp
    /// When cities last expired.
    let expiredAt: Timestamp?
    let names: NameArena
    let states: CityStates
    let histories: ChunkedArray<History>
    let order: CityOrder
}
