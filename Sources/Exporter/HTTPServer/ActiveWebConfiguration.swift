internal import System
internal import WebConfiguration

/// The web configuration in force, with what is made from it. A reload makes another.
final class ActiveWebConfiguration: Sendable {
    let users: [[UInt8]: BcryptHash]
    /// The fields of every response.
    let headers: [(name: String, value: String)]
    /// The TLS context that sessions are given; `nil`: plain HTTP.
    let tls: TLSContext?
    /// The rate limit; `nil`: none.
    let bucket: Monitor<TokenBucket>?

    /// - Throws: a `SystemError` when GnuTLS does not take the TLS configuration.
    init(_ configuration: WebConfiguration) throws(SystemError) {
        users = configuration.users
        let noSniffing = ("X-Content-Type-Options", "nosniff")
        headers = configuration.headers.map { ($0.name, $0.value) }.filter { $0.0 != noSniffing.0 } + [noSniffing]
        tls = try configuration.tls.map { (tls) throws(SystemError) in try TLSContext(tls) }
        bucket = configuration.rateLimit.map { Monitor(TokenBucket($0.burst, each: $0.interval)) }
    }
}
