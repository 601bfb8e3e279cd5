public import HTTPText

/// Who may use a server, and how: what may change while it runs.
public struct HTTPAccess: Sendable {
    /// The certificate and its rules; `nil` = plain HTTP.
    public var tls: TLSConfiguration?
    /// Fields set on every response. None is empty or contains control characters.
    public var headers: [HTTPField] = []
    /// `nil` = no authentication.
    public var users: Users?
    /// `nil` = no limit.
    public var rateLimit: RateLimit?

    public init() {}

    /// The users, and how their passwords are checked.
    public struct Users: Sendable, Equatable {
        private let hashes: [[UInt8]: String]
        /// Takes as long for an unknown user as for a wrong password: tens of milliseconds or more.
        let isRight: @Sendable (Credentials) -> Bool

        /// - Parameters:
        ///   - hashes: the text of each user's hash. A verdict is remembered as long as they stay the same.
        ///   - isRight: called on the connection's thread, for two clients at a time at most.
        public init(hashes: [[UInt8]: String], isRight: @escaping @Sendable (Credentials) -> Bool) {
            self.hashes = hashes
            self.isRight = isRight
        }

        public static func == (left: Users, right: Users) -> Bool { left.hashes == right.hashes }
    }

    /// A token bucket that starts full. One token is added per interval; each request takes one or gets status 429.
    public struct RateLimit: Sendable, Equatable {
        public var interval: Duration
        public var burst: Int

        public init(interval: Duration, burst: Int) {
            self.interval = interval
            self.burst = burst
        }
    }
}
