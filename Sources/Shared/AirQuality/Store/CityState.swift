/// Current state of one city.
public struct CityState: Sendable {
    /// UTF-8, at most ``CityName/maximumCount`` bytes.
    public internal(set) var name: [UInt8]
    public internal(set) var aqi = 0.0
    /// Time of the newest reading.
    public internal(set) var updatedAt: Timestamp = 0
    /// When the newest reading arrived, moved with steps of the clock; may differ from ``updatedAt``.
    public internal(set) var receivedAt: Timestamp = 0
    /// Milliseconds since that arrival that do not count towards expiry, because the program was not running.
    var downtime: Int64 = 0
    /// Number of the AQI's category, from 1.
    public internal(set) var category: UInt8
    public internal(set) var changes = CategoryChanges()
    public internal(set) var extras: CityExtras?
    /// Index of the feed that last sent ``extras``.
    private(set) var extrasFeed: Int32 = -1
    /// The store's version at the city's last change.
    public internal(set) var version: UInt64
    /// Index of the feed that sent the newest reading; -1 after a restart or the feed's removal.
    var feed: Int32 = -1
    /// The feed that the city counts as one of; -1 after a restart or the feed's removal. Another feed that sends the
    /// city as well takes over after this feed's idle time-out.
    var ownFeed: Int32 = -1
    /// Label of that feed, also after a restart; empty if unknown.
    public internal(set) var feedLabel: [UInt8] = []
    /// When that feed last sent the city; after a restart, when the city was restored.
    var heardFromOwnFeedAt: Timestamp = 0
    /// Another feed that sent the city since then; -1 if there is none.
    var otherFeed: Int32 = -1
    /// When the last reading arrived, repeated ones included.
    var heardAt: Timestamp = 0
    /// ID of the message with the newest reading.
    var messageID: UInt64 = 0
    var isNamedAsDuplicate = false

    /// Returns whether the feed is the city's own.
    @inline(__always)
    mutating func apply(
        _ reading: Reading, category new: UInt8, isNew: Bool, messageID: UInt64, feed: Int32, receivedAt: Timestamp,
        version: UInt64
    ) -> Bool {
        self.messageID = messageID
        self.feed = feed
        self.version = version
        heardAt = receivedAt
        let isOwn = feed == ownFeed
        if isOwn { heardFromOwnFeedAt = receivedAt }
        // A repeated reading may correct the AQI but does not keep the city from expiring.
        let isRepetition = reading.hasOwnTime && !isNew && reading.time == updatedAt
        if !isRepetition {
            updatedAt = reading.time
            self.receivedAt = receivedAt
            downtime = 0
        }
        aqi = reading.aqi
        guard new != category else { return isOwn }
        changes.record(better: new < category, at: reading.time)
        category = new
        return isOwn
    }

    mutating func add(_ details: CityExtras, ofFeed feed: Int32) {
        extras = extras?.updated(with: details) ?? details
        extrasFeed = feed
    }

    mutating func restore(_ city: City, at now: Timestamp, downtime: Int64) {
        self.downtime = downtime
        aqi = city.aqi
        updatedAt = city.updatedAt
        receivedAt = city.arrival(at: now)
        clampUpdate(to: now)
        if CityName.accepted(city.feedLabel.span, in: city.feedLabel.indices) == city.feedLabel.indices {
            feedLabel = city.feedLabel
        }
        // The city's own feed has its idle time-out to return.
        heardFromOwnFeedAt = now
        extras = city.place.map { CityExtras(concentrations: nil, subIndices: nil, place: $0) }
        // Not clamped: the clock may be behind at the start and be set right later.
        changes = city.changes
        // A kill may have lost the reading with the last change, and the reading before it has another category.
        if city.receivedAt == .max, let changedAt = changes.changedAt, changedAt > city.updatedAt {
            changes.changedAt = nil
            changes.direction = 0
        }
    }

    /// Sets the newest reading's time to `now` if it is later than the decoder accepts, and returns whether it did.
    @discardableResult
    mutating func clampUpdate(to now: Timestamp) -> Bool {
        guard updatedAt > now + FeedDecoder.maximumLead else { return false }
        updatedAt = now
        changes.changedAt = changes.changedAt.map { min($0, now) }
        return true
    }
}
