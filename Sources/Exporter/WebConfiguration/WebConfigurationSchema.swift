internal import Bytes
internal import System
internal import YAML

/// The schema of the file: every key with its type and default, before the values are looked at together.
struct WebConfigurationSchema {
    var tls = TLS()
    var http2 = true
    var headers: [HTTPField] = []
    var users: [[UInt8]: String] = [:]
    /// Nanoseconds.
    var rateLimitInterval: Int64 = 0
    var rateLimitBurst: Int64 = 0

    /// Empty texts and nil stand for keys that are not there.
    struct TLS {
        var certificate = ""
        var certificateFile = ""
        var key = ""
        var keyFile = ""
        var clientCA = ""
        var clientCAFile = ""
        var clientAuthType = ""
        /// Position, for errors.
        var clientAuthTypeLine = 1
        var allowedSANs: [String]?
        var priority = TLSPriority()
    }

    init(_ document: YAMLField?) throws(SystemError) {
        guard let field = document, !field.isNull else { return }
        for (key, value) in try field.mapping() {
            switch key {
            case "tls_server_config":
                if value.isNull {
                    tls = TLS(priority: TLSPriority(prefersServerCipherSuites: false))
                } else {
                    try tls.read(value)
                }
            case "http_server_config":
                if value.isNull { (http2, headers) = (false, []) } else { try readHTTP(value) }
            case "basic_auth_users":
                if value.isNull { users = [:] } else { try readUsers(value) }
            case "rate_limit":
                if value.isNull { (rateLimitInterval, rateLimitBurst) = (0, 0) } else { try readRateLimit(value) }
            default: throw value.unknown(among: "tls_server_config, http_server_config, basic_auth_users, rate_limit")
            }
        }
    }

    private mutating func readHTTP(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            switch key {
            case "http2": http2 = try value.boolean()
            case "headers": if value.isNull { headers = [] } else { try readHeaders(value) }
            default: throw value.unknown(among: "http2, headers")
            }
        }
    }

    private mutating func readHeaders(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            guard let allowed = Self.headers.first(where: { $0.name == key }) else {
                throw value.unknown(among: Self.headers.map(\.name).joined(separator: ", "))
            }
            let text = try value.text()
            guard allowed.values.isEmpty || allowed.values.contains(text) else {
                throw value.wrong(expected: allowed.values.joined(separator: " or "))
            }
            headers.append(.init(name: key, value: text))
        }
    }

    /// The names that may be configured and, where they are few, their values.
    private static let headers: [(name: String, values: [String])] = [
        ("Content-Security-Policy", []),
        ("X-Frame-Options", ["deny", "sameorigin"]),
        ("X-Content-Type-Options", ["nosniff"]),
        ("X-XSS-Protection", []),
        ("Strict-Transport-Security", []),
    ]

    private mutating func readUsers(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            var value = value
            value.isSecret = true
            let hash = try value.text(expected: "a bcrypt hash")
            if let problem = Bcrypt.problem(of: hash) {
                throw value.wrong(expected: "a bcrypt hash ($2y$…), but \(problem)")
            }
            users[Array(key.utf8)] = hash
        }
    }

    private mutating func readRateLimit(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            switch key {
            case "interval": rateLimitInterval = try value.duration()
            case "burst": rateLimitBurst = try value.integer()
            default: throw value.unknown(among: "interval, burst")
            }
        }
    }
}

extension WebConfigurationSchema.TLS {
    mutating func read(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            switch key {
            case "cert": certificate = try value.text()
            case "cert_file": certificateFile = try value.text()
            case "key":
                var value = value
                value.isSecret = true
                self.key = try value.text()
            case "key_file": keyFile = try value.text()
            case "client_ca": clientCA = try value.text()
            case "client_ca_file": clientCAFile = try value.text()
            case "client_auth_type": (clientAuthType, clientAuthTypeLine) = (try value.text(), value.line)
            case "client_allowed_sans":
                allowedSANs = try value.list()?.map { (name) throws(SystemError) in try name.text() }
            case "min_version": priority.minimumVersion = try value.name() ?? .tls12
            case "max_version": priority.maximumVersion = try value.name() ?? .tls13
            case "cipher_suites": priority.cipherSuites = try value.names()
            case "curve_preferences": priority.curves = try value.names()
            case "prefer_server_cipher_suites": priority.prefersServerCipherSuites = try value.boolean()
            default:
                throw value.unknown(
                    among: """
                        cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type, \
                        client_allowed_sans, min_version, max_version, cipher_suites, curve_preferences, \
                        prefer_server_cipher_suites
                        """)
            }
        }
    }
}

extension YAMLField {
    /// Nil for null.
    fileprivate func name<Name>() throws(SystemError) -> Name? where Name: CaseIterable & RawRepresentable<String> {
        // Go shows the other spellings of null, as Null, to the type itself, which does not know them.
        if case .scalar(let text, true) = content, ["", "~", "null"].contains(text) { return nil }
        let expected = "one of " + Name.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = Name(rawValue: try text(expected: expected)) else { throw wrong(expected: expected) }
        return name
    }

    fileprivate func names<Name>() throws(SystemError) -> [Name] where Name: CaseIterable & RawRepresentable<String> {
        var names: [Name] = []
        for field in try list() ?? [] {
            if let name: Name = try field.name() { names.append(name) }
        }
        return names
    }
}
