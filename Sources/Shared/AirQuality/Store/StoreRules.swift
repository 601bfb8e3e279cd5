/// Rules for accepting and keeping readings.
public struct StoreRules: Sendable {
    public var scale: Scale
    public var history: HistoryRule
    /// Maximum number of cities; readings of further ones are rejected.
    public var cityLimit: Int
    /// Milliseconds without a new reading after which a city expires; 0 keeps cities indefinitely.
    public var expireAfter: Int64
    /// Reasons for disconnects: values of a label, in the page's order.
    public var disconnectReasons: [String]

    public init(
        scale: Scale = .india, history: HistoryRule = HistoryRule(), cityLimit: Int = 10_000, expireAfter: Int64 = 0,
        disconnectReasons: [String] = []
    ) {
        self.scale = scale
        self.history = history
        self.cityLimit = cityLimit
        self.expireAfter = expireAfter
        self.disconnectReasons = disconnectReasons
    }
}
