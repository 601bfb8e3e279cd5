/// How the store judges what it is given.
public struct StoreRules: Sendable {
    public var scale: Scale
    /// How far past a boundary an index must be to change a city's category.
    public var hysteresis: Double
    public var history: HistoryRule
    public var cityLimit: Int
    /// Milliseconds since a city was last heard of; 0 keeps cities for ever.
    public var expireAfter: Int64
    /// Which cities a restored file may bring back.
    public var shard: Shard?
    /// The feed says the readings' times itself, so that they may be older than what is known.
    public var readingsHaveTimes: Bool
    /// A secret of the process; decoders need the same.
    public var hashSeed: UInt64

    public init(
        scale: Scale = .india, hysteresis: Double = 0, history: HistoryRule = HistoryRule(), cityLimit: Int = 100_000,
        expireAfter: Int64 = 0, shard: Shard? = nil, readingsHaveTimes: Bool = false, hashSeed: UInt64
    ) {
        self.scale = scale
        self.hysteresis = hysteresis
        self.history = history
        self.cityLimit = cityLimit
        self.expireAfter = expireAfter
        self.shard = shard
        self.readingsHaveTimes = readingsHaveTimes
        self.hashSeed = hashSeed
    }
}
