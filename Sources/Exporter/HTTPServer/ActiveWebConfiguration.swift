internal import System
internal import WebConfiguration

/// The web configuration in force, with what is made from it. A reload makes another.
final class ActiveWebConfiguration: Sendable {
    let users: [[UInt8]: BcryptHash]
    /// The fields of every response.
    let headers: [(name: String, value: String)]
    /// `nil`: plain HTTP.
    let tls: TLSConfiguration?
    /// The rate limit; `nil`: none.
    let bucket: Monitor<TokenBucket>?

    init(_ configuration: WebConfiguration) {
        users = configuration.users
        let noSniffing = ("X-Content-Type-Options", "nosniff")
        headers = configuration.headers.map { ($0.name, $0.value) }.filter { $0.0 != noSniffing.0 } + [noSniffing]
        tls = configuration.tls
        bucket = configuration.rateLimit.map { Monitor(TokenBucket($0.burst, each: $0.interval)) }
    }
}
