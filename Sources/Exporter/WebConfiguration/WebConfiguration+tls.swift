internal import HTTPServer
internal import System
internal import YAML

/// A PEM text and the configuration key that errors name as its origin.
struct PEM {
    var name: String
    var content: [UInt8]
}

extension WebConfiguration {
    /// - Parameter read: returns the PEM text of a YAML key or of the file that its `_file` key names, if any.
    mutating func readTLS(
        _ section: YAMLField?, _ read: (_ key: String, _ members: [String: YAMLField]) throws(SystemError) -> PEM?
    ) throws(SystemError) {
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
        // Ignored, as in Go: the server decides.
        _ = try members["prefer_server_cipher_suites"]?.boolean()
        // Versions, suites and names alone do not enable TLS.
        if givenCertificate == nil, givenKey == nil, authorities == nil, authentication == nil {
            if section?.isNull == false {
                warnings.append("tls_server_config has no certificate, so this is plain HTTP")
            }
            return
        }
        guard let certificate = givenCertificate else { throw .schema(" has neither cert nor cert_file") }
        guard let key = givenKey else { throw .schema(" has neither key nor key_file") }
        let problem = ".\(certificate.name) cannot be served with \(key.name)"
        let context = try Self.trying(problem, workingContext(certificate.content, key.content, priority))
        if let authorities {
            guard priority.asksClients else {
                throw .schema(
                    ".\(authorities.name) is given, expected a client_auth_type other than NoClientCert with it")
            }
            try Self.trying(".\(authorities.name) cannot be used", context.trust(authorities.content))
        }
        if names != nil, !priority.asksClients {
            warnings.append("client_allowed_sans is ignored, because client_auth_type requests no certificate")
        }
        tls = TLSConfiguration(
            context: context, clientAuthentication: authentication ?? .none, allowedSubjectAlternativeNames: names)
    }

    /// Returns a server's context that has completed a test handshake.
    private mutating func workingContext(
        _ certificate: [UInt8], _ key: [UInt8], _ priority: TLSPriority
    ) throws(SystemError) -> TLSContext {
        let keyKind = try TLSKeyKind(ofCertificate: certificate)
        let versions = priority.offer(key: keyKind).versions
        guard !versions.isEmpty else {
            throw SystemError(
                .content, "min_version, max_version and cipher_suites allow no TLS version for this certificate")
        }
        if versions != priority.versions {
            let spoken = versions.map(\.rawValue).joined(separator: ", ")
            warnings.append("with these cipher_suites and this certificate, only \(spoken) is spoken")
        }
        let context = try TLSContext(priority: priority.text(key: keyKind))
        try context.load(certificate: certificate, key: key)
        try context.tryHandshake()
        return context
    }

    /// - Parameter problem: prefix for an error of the expression.
    private static func trying<Result>(
        _ problem: String, _ result: @autoclosure () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        do throws(SystemError) {
            return try result()
        } catch {
            throw .schema("\(problem): \(error.reason)")
        }
    }
}

extension SystemError {
    static func schema(_ reason: String) -> SystemError { SystemError(.content, "tls_server_config" + reason) }
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
