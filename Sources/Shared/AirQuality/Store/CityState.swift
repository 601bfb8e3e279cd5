/// Current state of one city.
public struct CityState: Sendable {
    /// UTF-8, at most ``CityName/maximumCount`` bytes.
    public internal(set) var name: [UInt8]
    public internal(set) var index = 0.0
    /// Time of the newest reading.
    public internal(set) var updatedAt: Timestamp = 0
    /// When the newest reading arrived. The same as ``updatedAt`` unless the feed gives times.
    public internal(set) var receivedAt: Timestamp = 0
    /// Number of the category that the index lies in, 1 ….
    public internal(set) var category: UInt8
    public internal(set) var changes = CategoryChanges()
    /// Details beside the index; `nil` without any.
    public internal(set) var extras: CityExtras?
    /// The store's version at the city's last change.
    public internal(set) var version: UInt64
    /// Number of the feed that the newest reading came from; -1 after a restart.
    var feed: Int32 = -1
    /// When the city last came, in a repetition as well.
    var heardAt: Timestamp = 0
    /// Number of the message that the newest reading came with.
    var message: UInt64 = 0
    /// Whether it has been said that the city came twice in a message, or from two feeds.
    var isNamedAsDuplicate = false

    init(name: [UInt8], category: UInt8, version: UInt64) {
        self.name = name
        self.category = category
        self.version = version
    }

    mutating func apply(
        _ reading: Reading, category new: UInt8, isNew: Bool, message: UInt64, feed: Int32, receivedAt: Timestamp,
        version: UInt64
    ) {
        self.message = message
        self.feed = feed
        self.version = version
        heardAt = receivedAt
        // The same reading again may correct the value, but a feed that repeats itself does not keep a city alive.
        let isRepetition = reading.hasOwnTime && !isNew && reading.time == updatedAt
        if !isRepetition {
            updatedAt = reading.time
            self.receivedAt = receivedAt
        }
        index = reading.index
        guard new != category else { return }
        changes.record(better: new < category, at: reading.time)
        category = new
    }

    mutating func add(_ details: CityExtras) { extras = extras?.updated(with: details) ?? details }

    mutating func restore(_ city: City, at now: Timestamp) {
        index = city.index
        updatedAt = city.updatedAt
        // A file may have any number.
        receivedAt = min(max(city.receivedAt, -now), now)
        clampUpdate(to: now)
        changes = city.changes
        changes.changedAt = city.changes.changedAt.map { min($0, now) }
    }

    /// Moves the newest reading's time back, and returns true, if it is later than any the decoder accepts.
    @discardableResult
    mutating func clampUpdate(to now: Timestamp) -> Bool {
        guard updatedAt > now + FeedDecoder.maximumLead else { return false }
        updatedAt = now
        return true
    }
}
