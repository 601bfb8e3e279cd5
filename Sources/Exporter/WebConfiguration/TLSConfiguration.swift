internal import System
internal import YAML

/// The `tls_server_config` of a web configuration.
public struct TLSConfiguration: Sendable {
    /// The server's certificate, known to work, and the authorities of clients: without any, none verifies.
    package let context: TLSContext
    public var clientAuthentication = ClientAuthentication.none
    /// The client's certificate must have one of these names (DNS, e-mail, IP address as text, URI), byte for byte;
    /// `nil` = any name. A client without a certificate has no name.
    public var allowedSubjectAlternativeNames: [[UInt8]]?

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

// MARK: - Reading

/// A PEM text and the key that it comes from, as errors name it.
struct PEM {
    var name: String
    var content: [UInt8]
}

extension TLSConfiguration {
    /// - Parameters:
    ///   - read: the PEM of a key or of the file that another key names; `nil` when both are empty.
    ///   - warn: called with a line for what is accepted and probably a mistake.
    /// - Returns: `nil` for plain HTTP.
    static func read(
        _ section: YAMLField?, _ read: (_ key: String, _ members: [String: YAMLField]) throws(SystemError) -> PEM?,
        warn: (String) -> Void
    ) throws(SystemError) -> TLSConfiguration? {
        let members = try section.members([
            "cert", "cert_file", "key", "key_file", "client_ca", "client_ca_file", "client_auth_type",
            "client_allowed_sans", "min_version", "max_version", "cipher_suites", "curve_preferences",
            "prefer_server_cipher_suites",
        ])
        let givenCertificate = try read("cert", members)
        let givenKey = try read("key", members)
        let authorities = try read("client_ca", members)
        let authentication = try members["client_auth_type"]?.clientAuthentication()
        let names = try members["client_allowed_sans"]?.list()?.map { (name) throws(SystemError) in
            Array(try name.text().utf8)
        }
        var priority = TLSPriority()
        priority.minimumVersion = try members["min_version"]?.name() ?? .tls12
        priority.maximumVersion = try members["max_version"]?.name() ?? .tls13
        priority.cipherSuites = try members["cipher_suites"]?.names() ?? []
        priority.curves = try members["curve_preferences"]?.names() ?? []
        priority.asksClients = authentication.map { $0 != .none } ?? false
        // Go has given it up: the server decides.
        _ = try members["prefer_server_cipher_suites"]?.boolean()
        // Versions, suites and names alone do not ask for TLS.
        if givenCertificate == nil, givenKey == nil, authorities == nil, authentication == nil {
            if section?.isNull == false { warn("tls_server_config has no certificate, so this is plain HTTP") }
            return nil
        }
        guard let certificate = givenCertificate else { throw .schema(" has neither cert nor cert_file") }
        guard let key = givenKey else { throw .schema(" has neither key nor key_file") }
        let context = try context(certificate, key, priority, warn: warn)
        if let authorities {
            guard priority.asksClients else {
                throw .schema(
                    ".\(authorities.name) is given, expected a client_auth_type other than NoClientCert with it")
            }
            try trying(".\(authorities.name) has a certificate that cannot be read") { () throws(SystemError) in
                try context.trust(authorities.content)
            }
        }
        if names != nil, !priority.asksClients {
            warn("client_allowed_sans is ignored, because client_auth_type requests no certificate")
        }
        return TLSConfiguration(
            context: context, clientAuthentication: authentication ?? .none, allowedSubjectAlternativeNames: names)
    }

    /// The server's certificate and choices, known to work.
    private static func context(
        _ certificate: PEM, _ key: PEM, _ priority: TLSPriority, warn: (String) -> Void
    ) throws(SystemError) -> TLSContext {
        let keyKind = try trying(".\(certificate.name) cannot be served") { () throws(SystemError) in
            try TLSKeyKind(ofCertificate: certificate.content)
        }
        let versions = priority.offer(key: keyKind).versions
        guard !versions.isEmpty else {
            throw .schema(": min_version, max_version and cipher_suites leave nothing for this certificate")
        }
        if versions != priority.versions {
            let spoken = versions.map(\.rawValue).joined(separator: ", ")
            warn("with these cipher_suites and this certificate, only \(spoken) is spoken")
        }
        return try trying(".\(certificate.name) cannot be served with \(key.name)") { () throws(SystemError) in
            let context = try TLSContext(priority: priority.text(key: keyKind))
            try context.load(certificate: certificate.content, key: key.content)
            try context.tryHandshake()
            return context
        }
    }

    /// - Parameter problem: what it means when the closure fails.
    private static func trying<Result>(
        _ problem: String, _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .schema("\(problem): \(error.reason)")
        }
    }
}

extension SystemError {
    static func schema(_ reason: String) -> SystemError { SystemError(.system, "tls_server_config" + reason) }
}

extension YAMLField {
    /// Returns `nil` for null.
    fileprivate func name<Name>() throws(SystemError) -> Name? where Name: CaseIterable & RawRepresentable<String> {
        try value(
            expected: "one of " + Name.allCases.map(\.rawValue).joined(separator: ", "), Name.init(rawValue:))
    }

    fileprivate func names<Name>() throws(SystemError) -> [Name] where Name: CaseIterable & RawRepresentable<String> {
        let names = try (list() ?? []).map { (field) throws(SystemError) -> Name? in try field.name() }
        return names.compactMap { $0 }
    }

    /// Returns `nil` for an empty text.
    fileprivate func clientAuthentication() throws(SystemError) -> TLSConfiguration.ClientAuthentication? {
        switch try text() {
        case "": nil
        case "RequireClientCert": .requireAny  // an older spelling
        default: try name()
        }
    }
}
