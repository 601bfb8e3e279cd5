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
            PasswordCheck(credentials, hash: configuration.users[credentials.user], highestCost: highestCost))
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

/// Whether a password is that of a user.
///
/// A refusal takes as many rounds of bcrypt as the most expensive hash there is, for any user, so that its time
/// does not tell which users there are.
struct PasswordCheck: Sendable, Hashable {
    private let user: [UInt8]
    private let password: [UInt8]
    /// Nil: there is no such user.
    private let hash: String?
    private let highestCost: Int

    init(_ credentials: BasicCredentials, hash: String?, highestCost: Int) {
        user = credentials.user
        password = credentials.password
        self.hash = hash
        self.highestCost = highestCost
    }

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    func run(_ verify: (_ password: [UInt8], _ hash: String) -> Bool = Bcrypt.verify) -> Bool {
        guard let hash, let cost = Bcrypt.cost(of: hash) else {
            _ = verify(password, Bcrypt.decoy(cost: highestCost))
            return false
        }
        if verify(password, hash) { return true }
        // Each cost has twice the rounds of the one below: 2ⁿ + (2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹) = 2ᵐ.
        for missing in cost..<max(cost, highestCost) { _ = verify(password, Bcrypt.decoy(cost: missing)) }
        return false
    }
}

/// The verdicts on passwords that were checked last.
final class PasswordVerdicts: Sendable {
    /// Of each kind: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100

    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Mutex(State())

    private struct State {
        var right = RecentSet<PasswordCheck>(capacity: PasswordVerdicts.maximumRemembered)
        var wrong = RecentSet<PasswordCheck>(capacity: PasswordVerdicts.maximumRemembered)
    }

    init(run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) { self.run = run }

    /// The verdict if it is remembered.
    func known(_ check: PasswordCheck) -> Bool? {
        state.withLock { state in
            if state.right.contains(check) { return true }
            return state.wrong.contains(check) ? false : nil
        }
    }

    /// Checks the password unless the same was checked meanwhile; not on the serving thread.
    func verdict(on check: PasswordCheck) -> Bool {
        if let known = known(check) { return known }
        let isRight = run(check)
        state.withLock { state in
            if isRight { state.right.insert(check) } else { state.wrong.insert(check) }
        }
        return isRight
    }
}

/// The elements that were inserted last.
struct RecentSet<Element: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var elements: Set<Element> = []
    /// The oldest first.
    private var order: [Element] = []

    init(capacity: Int) { self.capacity = capacity }

    func contains(_ element: Element) -> Bool { elements.contains(element) }

    mutating func insert(_ element: Element) {
        guard elements.insert(element).inserted else { return }
        order.append(element)
        if order.count > capacity { elements.remove(order.removeFirst()) }
    }
}
