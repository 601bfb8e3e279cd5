/// So many calls in any so long, all at once if need be.
public struct CallRate: Sendable, Equatable {
    public var calls: Int
    public var period: Duration

    public init(calls: Int, per period: Duration) {
        self.calls = calls
        self.period = period
    }
}

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

    /// How long to wait until so many calls may be made; more than the rate has at once count as that.
    public mutating func delay(for cost: Int, at now: Int64) -> Int64 {
        // A clock that was set back gives nothing.
        tokens = min(capacity, tokens + Double(max(0, now - (countedAt ?? now))) * perMillisecond)
        countedAt = now
        let missing = min(Double(cost), capacity) - tokens
        return missing > 0 ? Int64((missing / perMillisecond).rounded(.up)) : 0
    }

    public mutating func spend(_ cost: Int) {
        tokens -= min(Double(cost), capacity)
    }
}
