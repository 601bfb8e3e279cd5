/// A rate limit: one token arrives per interval, and each event takes one or more. The bucket starts full. Fractions of
/// tokens are kept as time, so nothing is rounded. Setting the clock back adds no tokens.
package struct TokenBucket: Sendable {
    private static let maximumBurst = 1 << 30

    private let interval: Duration
    private let fillTime: Duration
    private var fullAt = Duration.zero

    /// - Parameter burst: capacity of the bucket in tokens.
    package init(_ burst: Int = 1, each interval: Duration) {
        self.interval = interval
        fillTime = interval * min(burst, Self.maximumBurst)
    }

    /// Number of whole tokens available.
    package func count(at now: Duration) -> Int {
        Int((fillTime - missingTime(at: now)).attoseconds / interval.attoseconds)
    }

    /// Time until `count` tokens are available, or the bucket is full.
    package mutating func delay(for count: Int, at now: Duration) -> Duration {
        // The clock may have been set back.
        fullAt = min(fullAt, now + fillTime)
        return max(.zero, missingTime(at: now) + cost(of: count) - fillTime)
    }

    /// Takes tokens, which must be available.
    package mutating func spend(_ count: Int, at now: Duration) {
        fullAt = now + missingTime(at: now) + cost(of: count)
    }

    /// Takes a token; returns `false` if there is none.
    package mutating func take(at now: Duration) -> Bool {
        guard delay(for: 1, at: now) == .zero, fillTime > .zero else { return false }
        spend(1, at: now)
        return true
    }

    private func missingTime(at now: Duration) -> Duration { max(.zero, min(fullAt - now, fillTime)) }

    private func cost(of count: Int) -> Duration { min(interval * count, fillTime) }
}
