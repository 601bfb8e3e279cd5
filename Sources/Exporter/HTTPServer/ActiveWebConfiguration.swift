internal import Synchronization
internal import System
internal import WebConfiguration

/// The web configuration in force, with what is made from it. It never changes; a reload makes another.
final class ActiveWebConfiguration: Sendable {
    let configuration: WebConfiguration
    /// On every response.
    let headers: [(name: String, value: String)]
    /// Nil: plain HTTP.
    let tls: TLSContext?
    private let bucket: Mutex<TokenBucket?>
    /// Of all users' hashes: what a refused password costs.
    private let highestCost: Int

    /// - Parameter previous: the one that this replaces: under an unchanged limit its requests still count.
    /// - Throws: a `SystemError` when GnuTLS does not take the TLS configuration.
    init(_ configuration: WebConfiguration, replacing previous: ActiveWebConfiguration?) throws(SystemError) {
        self.configuration = configuration
        highestCost = configuration.users.values.compactMap(Bcrypt.cost(of:)).max() ?? Bcrypt.lowestCost
        headers = configuration.headers.map { ($0.name, $0.value) }
        if let previous, let tls = previous.tls, configuration.tls == previous.configuration.tls {
            self.tls = tls
        } else if let tls = configuration.tls {
            self.tls = try TLSContext(tls)
        } else {
            tls = nil
        }
        guard let limit = configuration.rateLimit else {
            bucket = Mutex(nil)
            return
        }
        let kept = previous?.configuration.rateLimit == limit ? previous?.bucket.withLock { $0 } : nil
        bucket = Mutex(kept ?? TokenBucket(interval: limit.interval, burst: limit.burst, now: monotonicTime()))
    }

    /// Counts a request against the rate limit.
    func admitsRequest() -> Bool {
        guard configuration.rateLimit != nil else { return true }
        let now = monotonicTime()
        return bucket.withLock { $0?.take(at: now) ?? true }
    }

    /// Whether a request with this `Authorization` field is admitted, refused, or needs a password check first.
    func access(authorization: @autoclosure () -> String?) -> Access {
        guard !configuration.users.isEmpty else { return .granted }
        guard let credentials = authorization().flatMap(BasicCredentials.init(authorization:)) else { return .denied }
        return .needsPassword(
            PasswordCheck(
                credentials: credentials, hash: configuration.users[credentials.user], highestCost: highestCost))
    }

    enum Access {
        case granted
        case denied
        case needsPassword(PasswordCheck)
    }
}

/// A rate limit: a token comes each interval, up to `burst` of them, and a request takes one.
///
/// It is full at the start and counts as `rate.Limiter` of `golang.org/x/time` does.
struct TokenBucket: Sendable {
    private let interval: Duration
    private let burst: Double
    private var tokens: Double
    private var filledAt: Duration

    /// - Parameter now: of the clock that `take` is given.
    init(interval: Duration, burst: Int, now: Duration) {
        self.interval = interval
        self.burst = Double(burst)
        tokens = Double(burst)
        filledAt = now
    }

    /// False when there is no token left.
    mutating func take(at now: Duration) -> Bool {
        if now > filledAt {
            tokens = min(burst, tokens + (now - filledAt) / interval)
            filledAt = now
        }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
