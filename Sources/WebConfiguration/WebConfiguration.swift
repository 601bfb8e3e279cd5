/// What a web configuration file says, checked, with the files that it names read.
///
/// The schema is the one that Prometheus exporters share: exporter-toolkit 0.17, `docs/web-configuration.md`.
/// A value is plain: no flag of it changes after it was read.
public struct WebConfiguration: Sendable, Equatable {
    /// Nil: plain HTTP.
    public var tls: TLSConfiguration?

    /// Read for the schema's sake: libmicrohttpd speaks HTTP/1.1 only, whatever it says.
    public var allowsHTTP2 = true

    /// Set on every response. Names and values are fit to be sent: no control characters, none empty.
    public var headers: [Header] = []

    /// The bcrypt hash of each user by the bytes of the name; empty = everybody may come in.
    public var users: [[UInt8]: String] = [:]

    /// Nil: no limit.
    public var rateLimit: RateLimit?

    /// The configuration file and the files that it names, to be looked at for changes.
    public var files: [String] = []

    /// One line each: what is accepted, as the exporter-toolkit accepts it, and hardly meant.
    public var warnings: [String] = []

    public init() {}

    public struct Header: Sendable, Equatable {
        public var name: String
        public var value: String
    }

    /// A token bucket, full at the start: a token comes each interval, a request takes one or gets 429.
    public struct RateLimit: Sendable, Equatable {
        public var interval: Duration
        public var burst: Int
    }
}

/// The `tls_server_config` of a web configuration.
public struct TLSConfiguration: Sendable, Equatable {
    /// PEM, the server's certificate first; it belongs to the key.
    public var certificate: [UInt8]
    /// PEM, not encrypted.
    public var key: [UInt8]
    /// PEM; nil when none are given or the text holds no certificate, and then no client certificate verifies.
    public var clientCertificateAuthorities: [UInt8]?
    public var clientAuthentication = ClientAuthentication.none
    /// The client's certificate must have one of these names (DNS, e-mail, IP address as text, URI), byte for byte;
    /// nil = any name. A client without a certificate has no name.
    public var allowedSubjectAlternativeNames: [[UInt8]]?
    /// Which versions, cipher suites and curves are spoken, in GnuTLS's priority language.
    public var priority: String

    /// Go's `tls.ClientAuthType`.
    public enum ClientAuthentication: String, Sendable, CaseIterable {
        /// The client is not asked for a certificate.
        case none = "NoClientCert"
        /// Asked for; none or any will do.
        case request = "RequestClientCert"
        /// Any certificate, unverified.
        case requireAny = "RequireAnyClientCert"
        /// None, or one that the authorities signed.
        case verifyIfGiven = "VerifyClientCertIfGiven"
        /// One that the authorities signed.
        case requireAndVerify = "RequireAndVerifyClientCert"
    }
}
