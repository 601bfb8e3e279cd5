internal import Synchronization
internal import System
internal import WebConfiguration

/// What a web configuration asks of every connection and request. It never changes; a reload makes another.
final class HTTPPolicy: Sendable {
    let configuration: WebConfiguration
    /// On every answer.
    let headers: [(name: String, value: String)]
    /// Nil: plain HTTP.
    let tls: TLSContext?
    private let bucket: Mutex<TokenBucket?>

    /// - Parameters:
    ///   - previous: the policy that this one replaces: under an unchanged limit its requests still count.
    /// - Throws: a `SystemError` when GnuTLS does not take the TLS configuration.
    init(_ configuration: WebConfiguration, replacing previous: HTTPPolicy?) throws(SystemError) {
        self.configuration = configuration
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
        bucket = Mutex(
            kept ?? TokenBucket(interval: limit.interval, burst: limit.burst, now: monotonicTime()))
    }

    /// Counts a request against the rate limit.
    func admitsRequest() -> Bool {
        guard configuration.rateLimit != nil else { return true }
        let now = monotonicTime()
        return bucket.withLock { $0?.take(at: now) ?? true }
    }

    /// What has to be found out before somebody with this `Authorization` field may come in.
    func entrance(authorization: @autoclosure () -> String?) -> Entrance {
        guard !configuration.users.isEmpty else { return .open }
        guard let credentials = authorization().flatMap(BasicCredentials.init(authorization:)) else { return .closed }
        if let hash = configuration.users[credentials.user] {
            return .password(PasswordQuestion(credentials: credentials, hash: hash, isKnownUser: true))
        }
        // Somebody's hash, so that the time of the answer does not tell which users there are.
        let decoy = configuration.users.min { $0.key.lexicographicallyPrecedes($1.key) }!.value
        return .password(PasswordQuestion(credentials: credentials, hash: decoy, isKnownUser: false))
    }

    enum Entrance {
        case open
        case closed
        case password(PasswordQuestion)
    }
}

/// Whether a password is that of a user.
struct PasswordQuestion: Sendable, Hashable {
    let user: [UInt8]
    let password: [UInt8]
    let hash: String
    /// The answer to an unknown user is no, and takes as long to find.
    let isKnownUser: Bool

    init(credentials: BasicCredentials, hash: String, isKnownUser: Bool) {
        user = credentials.user
        password = credentials.password
        self.hash = hash
        self.isKnownUser = isKnownUser
    }

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    func answer() -> Bool {
        Bcrypt.verify(password: password, hash: hash) && isKnownUser
    }
}
