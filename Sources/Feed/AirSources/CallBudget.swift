/// The calls that may be made now: a token bucket that is full at first. Times are milliseconds since the Unix epoch.
public struct CallBudget: Sendable {
    private let capacity: Double
    private let perMillisecond: Double
    private var tokens: Double
    private var countedAt: Int64?

    public init(_ rate: CallRate) {
        capacity = Double(rate.calls)
        perMillisecond = capacity / max(1, rate.period / .milliseconds(1))
        tokens = capacity
    }

    /// Milliseconds until `cost` calls may be made. A cost above the capacity counts as the capacity.
    public mutating func delay(for cost: Int, at now: Int64) -> Int64 {
        refill(at: now)
        let missing = min(Double(cost), capacity) - tokens
        return missing > 0 ? Int64((missing / perMillisecond).rounded(.up)) : 0
    }

    /// Whole calls that may be made now.
    public mutating func left(at now: Int64) -> Int {
        refill(at: now)
        return Int(tokens)
    }

    private mutating func refill(at now: Int64) {
        // A clock that was set back adds no tokens.
        tokens = min(capacity, tokens + Double(max(0, now - (countedAt ?? now))) * perMillisecond)
        countedAt = now
    }

    public mutating func spend(_ cost: Int) { tokens -= min(Double(cost), capacity) }
}
