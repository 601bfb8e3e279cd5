internal import Synchronization
internal import System
internal import WebConfiguration

/// The web configuration in force, with what is made from it. It never changes; a reload makes another.
final class ActiveWebConfiguration: Sendable {
    let configuration: WebConfiguration
    /// The fields of every response.
    let headers: [(name: String, value: String)]
    /// The TLS context that sessions are given; `nil`: plain HTTP.
    let tls: TLSContext?
    private let bucket: Mutex<TokenBucket?>
    /// The highest cost of all users' hashes, which a wrong password costs.
    private let highestCost: Int

    /// - Parameter previous: the one that this replaces: under an unchanged limit its requests still count.
    /// - Throws: a `SystemError` when GnuTLS does not take the TLS configuration.
    init(_ configuration: WebConfiguration, replacing previous: ActiveWebConfiguration?) throws(SystemError) {
        self.configuration = configuration
        highestCost = configuration.users.values.compactMap(Bcrypt.cost(of:)).max() ?? Bcrypt.lowestCost
        let noSniffing = ("X-Content-Type-Options", "nosniff")
        headers = configuration.headers.map { ($0.name, $0.value) }.filter { $0.0 != noSniffing.0 } + [noSniffing]
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

    /// Whether a request with this `Authorization` field is admitted, rejected, or needs a password check first.
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
