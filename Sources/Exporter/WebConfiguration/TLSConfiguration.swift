/// The `tls_server_config` of a web configuration.
public struct TLSConfiguration: Sendable {
    /// The server's certificate, known to work, and the authorities of clients: without any, none verifies.
    package let context: TLSContext
    public let clientAuthentication: ClientAuthentication
    /// The client's certificate must have one of these names (DNS, e-mail, IP address as text, URI), byte for byte;
    /// `nil` = any name. A client without a certificate has no name.
    public let allowedSubjectAlternativeNames: [[UInt8]]?

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

    /// Whether a client must have a certificate: a certain name is that of one.
    package var requiresClientCertificate: Bool {
        switch clientAuthentication {
        case .requireAny, .requireAndVerify: true
        case .request, .verifyIfGiven: allowedSubjectAlternativeNames != nil
        case .none: false
        }
    }
}
