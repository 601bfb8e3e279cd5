/// A rate limit: a token comes each interval, up to `burst` of them, and a request takes one.
///
/// A bucket is full at the start and counts as `rate.Limiter` of `golang.org/x/time` does.
package struct TokenBucket: Sendable {
    private let interval: Duration
    private let burst: Double
    private var tokens: Double
    private var filledAt: Duration

    /// - Parameter now: of the clock that `take` is given.
    package init(interval: Duration, burst: Int, now: Duration) {
        self.interval = interval
        self.burst = Double(burst)
        tokens = Double(burst)
        filledAt = now
    }

    /// False when there is no token left.
    package mutating func take(at now: Duration) -> Bool {
        if now > filledAt {
            tokens = min(burst, tokens + (now - filledAt) / interval)
            filledAt = now
        }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
