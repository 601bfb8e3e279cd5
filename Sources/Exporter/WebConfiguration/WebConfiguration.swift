internal import Bytes
public import HTTPText
public import System
internal import YAML

/// Content of a web configuration file, checked, with the files that it names.
///
/// The schema is the one that Prometheus exporters share: exporter-toolkit 0.17, `docs/web-configuration.md`.
/// A value is plain: no flag of it changes after it was read.
public struct WebConfiguration: Sendable, Equatable {
    /// The certificate and its rules; `nil`: plain HTTP.
    public var tls: TLSConfiguration?

    /// Read for the schema's sake: libmicrohttpd speaks HTTP/1.1 only, whatever it says.
    public var allowsHTTP2 = true

    /// Set on every response. Names and values are fit to be sent: no control characters, none empty.
    public var headers: [HTTPField] = []

    /// The bcrypt hash of each user by the bytes of the name; empty = everybody may come in.
    public var users: [[UInt8]: String] = [:]

    /// The limit of requests; `nil`: none.
    public var rateLimit: RateLimit?

    /// One line each: accepted, as by the exporter-toolkit, but probably a mistake.
    public var warnings: [String] = []

    public init() {}

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
    /// PEM; `nil` when none are given or the text holds no certificate, and then no client certificate verifies.
    public var clientCertificateAuthorities: [UInt8]?
    public var clientAuthentication = ClientAuthentication.none
    /// The client's certificate must have one of these names (DNS, e-mail, IP address as text, URI), byte for byte;
    /// `nil` = any name. A client without a certificate has no name.
    public var allowedSubjectAlternativeNames: [[UInt8]]?
    /// Versions, cipher suites and curves, as a GnuTLS priority string.
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

// MARK: - Reading

extension WebConfiguration {
    /// Bytes that the file, and each file that it names, may have at most.
    static let fileLimit = 1 << 20

    /// Reads the file and the files that it names.
    ///
    /// Accepts what exporter-toolkit 0.17 accepts.
    /// - Parameter willRead: called with each file before it is read.
    /// - Throws: one line with the file, the line in it, the key, its value (secrets masked) and what was expected.
    public init(file path: String, willRead: (_ path: String) -> Void = { _ in }) throws(SystemError) {
        func read(_ path: String) throws(SystemError) -> [UInt8] {
            willRead(path)
            return try readFile(path, limit: Self.fileLimit)
        }
        try self.init(text: read(path), path: path, read: read)
    }

    /// - Parameter path: of the file that has the text; relative paths in it begin in its directory.
    init(text: [UInt8], path: String, read: (_ path: String) throws(SystemError) -> [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            self.init()
            let tls = try readValues(YAMLField.parse(text))
            self.tls = try readTLS(tls, directory: directory(of: path), read: read)
        } catch {
            throw SystemError(error.code, "web configuration \(path): \(error.reason)")
        }
    }

    private mutating func readTLS(
        _ schema: TLSSchema, directory: String, read: (String) throws(SystemError) -> [UInt8]
    ) throws(SystemError) -> TLSConfiguration? {
        guard schema.isEnabled else {
            if schema.namesAnything { warnings.append("tls_server_config has no certificate, so this is plain HTTP") }
            return nil
        }
        /// The content of the file when one is named, else the text itself; `nil` when both are empty.
        func pem(_ key: String, file: String, text: String) throws(SystemError) -> PEM? {
            guard !file.isEmpty else { return text.isEmpty ? nil : PEM(name: key, content: Array(text.utf8)) }
            let path = file.utf8.first == UInt8(ascii: "/") ? file : directory + file
            do throws(SystemError) {
                return try PEM(name: "\(key)_file (\(path))", content: read(path))
            } catch {
                throw .schema(".\(key)_file: \(error.reason)")
            }
        }
        guard let certificate = try pem("cert", file: schema.certificateFile, text: schema.certificate) else {
            throw .schema(" has neither cert nor cert_file")
        }
        guard let key = try pem("key", file: schema.keyFile, text: schema.key) else {
            throw .schema(" has neither key nor key_file")
        }
        let keyKind = try certificate.keyKind()
        let clientAuthentication = schema.clientAuthentication ?? .none
        let priority = schema.priority.text(key: keyKind)
        // A choice that is impossible with any certificate is a warning.
        let canBeSpoken = schema.priority.canBeSpoken(key: keyKind)
        let credentials = try certificate.credentials(key: key)
        do throws(SystemError) {
            try tryHandshake(
                credentials: credentials, priority: canBeSpoken ? priority : TLSPriority().text(key: keyKind))
        } catch {
            throw .schema(".\(certificate.name) cannot be served: \(error.reason)")
        }
        let authorities = try pem("client_ca", file: schema.clientCAFile, text: schema.clientCA)
        if let authorities, clientAuthentication == .none {
            throw .schema(".\(authorities.name) is given, expected a client_auth_type other than NoClientCert with it")
        }
        var tls = TLSConfiguration(certificate: certificate.content, key: key.content, priority: priority)
        tls.clientCertificateAuthorities = (authorities?.content).flatMap(readableCertificates)
        tls.clientAuthentication = clientAuthentication
        tls.allowedSubjectAlternativeNames = schema.allowedSANs?.map { Array($0.utf8) }
        if let warning = schema.priority.warning(key: keyKind) { warnings.append(warning) }
        if let authorities, tls.clientCertificateAuthorities == nil {
            let problem = "\(authorities.name) has no certificate that can be read"
            // The exporter-toolkit accepts it, and then nobody's certificate verifies: a file that is cut off by
            // accident would lock all clients out.
            guard clientAuthentication != .verifyIfGiven, clientAuthentication != .requireAndVerify else {
                throw .schema(".\(problem)")
            }
            warnings.append(problem)
        }
        if tls.allowedSubjectAlternativeNames != nil, clientAuthentication == .none {
            warnings.append("client_allowed_sans is ignored, because client_auth_type requests no certificate")
        }
        return tls
    }
}

/// A PEM text and the key that it comes from, as errors name it.
private struct PEM {
    var name: String
    var content: [UInt8]

    func keyKind() throws(SystemError) -> TLSKeyKind {
        do throws(SystemError) {
            return try TLSKeyKind(certificate: content)
        } catch {
            throw .schema(".\(name) \(error.reason)")
        }
    }

    /// The certificate with its key, as a server loads them.
    func credentials(key: PEM) throws(SystemError) -> CertificateCredentials {
        let credentials = try CertificateCredentials()
        do throws(SystemError) {
            try credentials.load(certificate: content, key: key.content)
        } catch {
            let problem =
                error == CertificateCredentials.mismatch ? "is not the key of \(name)" : "cannot be read as a key"
            throw .schema(".\(key.name) \(problem): \(error.reason)")
        }
        return credentials
    }
}

/// With its slash at the end; empty for the current one.
private func directory(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" }

extension SystemError {
    fileprivate static func schema(_ reason: String) -> SystemError {
        SystemError(.configuration, "tls_server_config" + reason)
    }
}

extension TLSSchema {
    /// Versions, suites and names alone do not ask for TLS.
    fileprivate var isEnabled: Bool {
        clientAuthentication != nil
            || !(certificate + certificateFile + key + keyFile + clientCA + clientCAFile).isEmpty
    }

    fileprivate var namesAnything: Bool {
        allowedSANs != nil || priority != TLSPriority(prefersServerCipherSuites: priority.prefersServerCipherSuites)
    }
}
