/// Exponential back-off with full jitter: the bound doubles with each consecutive failure, from the minimum to the
/// maximum, and the delay is uniform between zero and the bound. A connection that lasted a minute, or ten seconds with
/// a useful message, resets it.
struct ReconnectPolicy: Equatable {
    static let healthyAfter: Duration = .seconds(60)
    static let healthyIfUsefulAfter: Duration = .seconds(10)
    /// Upper limit on `Retry-After`.
    static let maximumRetryAfter: Duration = .seconds(300)
    /// With a smaller bound, a feed that is down would be dialled almost without pause.
    static let minimumBound: Duration = .milliseconds(10)

    let minimum: Duration
    let maximum: Duration
    private(set) var failures = 0

    init(minimum: Duration, maximum: Duration) {
        self.minimum = max(minimum, Self.minimumBound)
        self.maximum = max(maximum, self.minimum)
    }

    var bound: Duration { min(minimum * (1 << failures), maximum) }

    /// Returns the delay before the next attempt. `connectedFor` is `nil` if never connected; `random` is in 0..<1.
    mutating func delay(
        connectedFor: Duration?, wasUseful: Bool = false, retryAfter: Duration?, random: Double
    ) -> Duration {
        let healthyAfter = wasUseful ? Self.healthyIfUsefulAfter : Self.healthyAfter
        if let connectedFor, connectedFor >= healthyAfter { failures = 0 }
        let jittered = bound * random
        if bound < maximum { failures += 1 }
        return max(jittered, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }

    /// Forgets earlier failures, because a user requested a new connection.
    mutating func reset() { failures = 0 }
}
