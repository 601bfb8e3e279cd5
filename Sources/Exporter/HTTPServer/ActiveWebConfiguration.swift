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
        if let tls = previous?.tls, configuration.tls == previous?.configuration.tls {
            self.tls = tls
        } else {
            tls = try configuration.tls.map { (tls) throws(SystemError) in try TLSContext(tls) }
        }
        if configuration.rateLimit == previous?.configuration.rateLimit, let previous {
            bucket = Mutex(previous.bucket.withLock { $0 })
        } else {
            bucket = Mutex(
                configuration.rateLimit.map {
                    TokenBucket(interval: $0.interval, burst: $0.burst, now: monotonicTime())
                })
        }
    }

    /// Counts a request against the rate limit.
    func admitsRequest() -> Bool { bucket.withLock { $0?.take(at: monotonicTime()) ?? true } }

    var needsPassword: Bool { !configuration.users.isEmpty }

    /// The check of an `Authorization` field; `nil` when it has no credentials.
    func passwordCheck(of authorization: String?) -> PasswordCheck? {
        guard let credentials = authorization.flatMap(BasicCredentials.init(authorization:)) else { return nil }
        return PasswordCheck(
            credentials: credentials, hash: configuration.users[credentials.user], highestCost: highestCost)
    }
}
