/// Exponential back-off with full jitter.
///
/// The bound doubles with each failure in a row, from the minimum to the maximum. The wait is anything between zero and
/// the bound, all equally likely. After a connection that lasted a minute the bound is the minimum again.
struct ReconnectPolicy: Equatable {
    static let healthyAfter: Duration = .seconds(60)
    /// Upper bound for `Retry-After`.
    static let maximumRetryAfter: Duration = .seconds(300)
    /// With a smaller bound a dead feed would be dialled without a pause.
    static let minimumBound: Duration = .milliseconds(10)

    let minimum: Duration
    let maximum: Duration
    private(set) var failures = 0

    init(minimum: Duration, maximum: Duration) {
        self.minimum = max(minimum, Self.minimumBound)
        self.maximum = max(maximum, self.minimum)
    }

    var bound: Duration { min(minimum * (1 << failures), maximum) }

    /// The wait after a connection that lasted `connectedFor`, `nil` when it was never open; `random` is in 0..<1.
    mutating func delay(connectedFor: Duration?, retryAfter: Duration?, random: Double) -> Duration {
        if let connectedFor, connectedFor >= Self.healthyAfter { failures = 0 }
        let jittered = bound * random
        if bound < maximum { failures += 1 }
        return max(jittered, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }

    /// Forgets earlier failures, because a user asked for a new connection.
    mutating func reset() { failures = 0 }
}
