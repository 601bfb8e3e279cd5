/// The certificate of a server and what it requires of clients.
public struct TLSConfiguration: Sendable {
    /// The server's certificate, tested in a handshake, and the authorities for client certificates; without
    /// authorities, no client certificate verifies.
    package let context: TLSContext
    public let clientAuthentication: ClientAuthentication
    /// Names (DNS, e-mail, IP address as text, URI), one of which a client's certificate must have, byte for byte;
    /// `nil` = any name. A client without a certificate has no name.
    public let allowedSubjectAlternativeNames: [[UInt8]]?

    /// Go's `tls.ClientAuthType`.
    public enum ClientAuthentication: String, Sendable, CaseIterable {
        /// No certificate is requested.
        case none = "NoClientCert"
        /// A certificate is requested; none or any is accepted.
        case request = "RequestClientCert"
        /// Any certificate is required, unverified.
        case requireAny = "RequireAnyClientCert"
        /// A certificate is optional, but must be signed by the authorities.
        case verifyIfGiven = "VerifyClientCertIfGiven"
        /// A certificate signed by the authorities is required.
        case requireAndVerify = "RequireAndVerifyClientCert"
    }

    package init(
        context: TLSContext, clientAuthentication: ClientAuthentication,
        allowedSubjectAlternativeNames: [[UInt8]]?
    ) {
        self.context = context
        self.clientAuthentication = clientAuthentication
        self.allowedSubjectAlternativeNames = allowedSubjectAlternativeNames
    }

    /// Whether clients must have a certificate. Allowed names imply one.
    package var requiresClientCertificate: Bool {
        switch clientAuthentication {
        case .requireAny, .requireAndVerify: true
        case .request, .verifyIfGiven: allowedSubjectAlternativeNames != nil
        case .none: false
        }
    }
}
