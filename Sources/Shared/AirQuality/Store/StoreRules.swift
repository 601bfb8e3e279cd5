/// Rules by which the store judges readings.
public struct StoreRules: Sendable {
    public var scale: Scale
    public var history: HistoryRule
    /// Greatest number of cities; readings of others are rejected.
    public var cityLimit: Int
    /// Milliseconds since a city was last heard of; 0 keeps cities indefinitely.
    public var expireAfter: Int64
    /// Cities that a restored file may bring back; `nil` for all.
    public var shard: Shard?
    /// Metric families that readings can have values for.
    public var families: Set<CityFamilyName>

    public init(
        scale: Scale = .india, history: HistoryRule = HistoryRule(), cityLimit: Int = 10_000, expireAfter: Int64 = 0,
        shard: Shard? = nil, families: Set<CityFamilyName> = FeedFormat().families
    ) {
        self.scale = scale
        self.history = history
        self.cityLimit = cityLimit
        self.expireAfter = expireAfter
        self.shard = shard
        self.families = families
    }
}
