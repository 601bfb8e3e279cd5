/// The content of the store, and its snapshot. Its extensions change it. Not thread-safe.
struct StoreState: Sendable {
    let rules: StoreRules
    var version: UInt64 = 1
    var cities = Cities()
    var feeds: [FeedStatistics]
    var pointCount = 0
    var rejectedNames = BoundedReport()
    let startedAt: Timestamp
    var expiredAt: Timestamp?
    var expiredCount: UInt64 = 0
    /// Newest reading times of expired cities (at most the city limit), which repeated readings do not restore.
    var expiredReadings: [[UInt8]: Timestamp] = [:]
    var messageCount: UInt64 = 0

    init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        self.feeds = feeds.map { FeedStatistics(label: $0) }
        startedAt = now
    }

    mutating func snapshot(withHistories: Bool) -> StoreSnapshot {
        cities.sort()
        return StoreSnapshot(
            rules: rules, version: version, startedAt: startedAt, expiredAt: expiredAt, states: cities.states,
            histories: withHistories ? cities.histories : [],
            feeds: feeds.filter { !$0.isRemoved }, pointCount: pointCount, expiredCount: expiredCount)
    }
}
