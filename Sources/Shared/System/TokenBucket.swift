/// A limit of how often something may happen: a token comes each interval, and what happens takes one or more. The
/// bucket is full at first.
///
/// Parts of a token are times, so nothing is rounded. When the clock is set back, no token comes of it.
package struct TokenBucket: Sendable {
    /// A larger bucket would limit nothing.
    private static let maximumBurst = 1 << 30

    private let interval: Duration
    private let fillTime: Duration
    private var fullAt = Duration.zero

    /// - Parameter burst: tokens of a full bucket.
    package init(_ burst: Int = 1, each interval: Duration) {
        self.interval = interval
        fillTime = interval * min(burst, Self.maximumBurst)
    }

    /// Whole tokens that there are.
    package func count(at now: Duration) -> Int {
        Int((fillTime - missingTime(at: now)).attoseconds / interval.attoseconds)
    }

    /// Time until so many tokens are there, or the bucket is full.
    package mutating func delay(for count: Int, at now: Duration) -> Duration {
        // The clock may have been set back.
        fullAt = min(fullAt, now + fillTime)
        return max(.zero, missingTime(at: now) + cost(of: count) - fillTime)
    }

    /// Takes tokens that are there.
    package mutating func spend(_ count: Int, at now: Duration) {
        fullAt = now + missingTime(at: now) + cost(of: count)
    }

    /// Takes a token; false when there is none.
    package mutating func take(at now: Duration) -> Bool {
        guard delay(for: 1, at: now) == .zero, fillTime > .zero else { return false }
        spend(1, at: now)
        return true
    }

    /// Time until the bucket is full.
    private func missingTime(at now: Duration) -> Duration { max(.zero, min(fullAt - now, fillTime)) }

    private func cost(of count: Int) -> Duration { min(interval * count, fillTime) }
}
