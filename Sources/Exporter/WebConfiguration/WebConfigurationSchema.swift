internal import Bytes
internal import HTTPText
internal import System
internal import YAML

/// The keys of `tls_server_config` with their types and defaults, before the values are looked at together. Empty texts
/// and `nil` stand for keys that are not there.
struct TLSSchema {
    var certificate = ""
    var certificateFile = ""
    var key = ""
    var keyFile = ""
    var clientCA = ""
    var clientCAFile = ""
    var clientAuthentication: TLSConfiguration.ClientAuthentication?
    var allowedSANs: [String]?
    var priority = TLSPriority()
}

/// The schema of the file: every key with its type.
extension WebConfiguration {
    /// Takes all values but those for TLS.
    mutating func readValues(_ document: YAMLField?) throws(SystemError) -> TLSSchema {
        var tls = TLSSchema()
        for (key, value) in try document?.members() ?? [] {
            switch key {
            case "tls_server_config" where value.isNull: tls.priority.prefersServerCipherSuites = false
            case "tls_server_config": try tls.read(value)
            case "http_server_config" where value.isNull: allowsHTTP2 = false
            case "http_server_config": try readHTTP(value)
            case "basic_auth_users": try readUsers(value)
            case "rate_limit": try readRateLimit(value)
            default: throw value.unknown(among: "tls_server_config, http_server_config, basic_auth_users, rate_limit")
            }
        }
        return tls
    }

    private mutating func readHTTP(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.mapping() {
            switch key {
            case "http2": allowsHTTP2 = try value.boolean()
            case "headers": try readHeaders(value)
            default: throw value.unknown(among: "http2, headers")
            }
        }
    }

    private mutating func readHeaders(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.members() {
            guard let allowed = Self.knownHeaders.first(where: { $0.name == key }) else {
                throw value.unknown(among: Self.knownHeaders.map(\.name).joined(separator: ", "))
            }
            let text = try value.text()
            guard allowed.values.isEmpty || allowed.values.contains(text) else {
                throw value.wrong(expected: allowed.values.joined(separator: " or "))
            }
            if let header = HTTPField(name: key, value: text).sendable { headers.append(header) }
        }
    }

    /// The names that may be configured and, where they are few, their values.
    private static let knownHeaders: [(name: String, values: [String])] = [
        ("Content-Security-Policy", []),
        ("X-Frame-Options", ["deny", "sameorigin"]),
        ("X-Content-Type-Options", ["nosniff"]),
        ("X-XSS-Protection", []),
        ("Strict-Transport-Security", []),
    ]

    private mutating func readUsers(_ field: YAMLField) throws(SystemError) {
        for (key, value) in try field.members() {
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
        var interval: Int64 = 0
        var burst: Int64 = 0
        for (key, value) in try field.members() {
            switch key {
            case "interval": interval = try value.duration()
            case "burst": burst = try value.integer()
            default: throw value.unknown(among: "interval, burst")
            }
        }
        // An interval below zero is no limit to Go, too.
        guard interval > 0 else { return }
        rateLimit = RateLimit(interval: .nanoseconds(interval), burst: Int(max(burst, 0)))
        if burst <= 0 { warnings.append("rate_limit.burst is \(burst), so every request is rejected") }
    }
}

extension TLSSchema {
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
            case "client_auth_type": clientAuthentication = try value.clientAuthentication()
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

extension HTTPField {
    /// Returns `nil` when the value is blank, which means unset. Line ends and other control characters become blanks.
    fileprivate var sendable: HTTPField? {
        var bytes = value.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }[...]
        bytes = bytes.drop { $0 == UInt8(ascii: " ") }
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        return bytes.isEmpty ? nil : Self(name: name, value: String(decoding: bytes, as: UTF8.self))
    }
}

extension YAMLField {
    /// None for null.
    fileprivate func members() throws(SystemError) -> [(key: String, value: YAMLField)] {
        isNull ? [] : try mapping()
    }

    /// Returns `nil` for null.
    fileprivate func name<Name>() throws(SystemError) -> Name? where Name: CaseIterable & RawRepresentable<String> {
        // Go shows the other spellings of null, as Null, to the type itself, which does not know them.
        if case .scalar(let text, true) = content, ["", "~", "null"].contains(text) { return nil }
        let expected = "one of " + Name.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = Name(rawValue: try text(expected: expected)) else { throw wrong(expected: expected) }
        return name
    }

    /// Returns `nil` for an empty text.
    fileprivate func clientAuthentication() throws(SystemError) -> TLSConfiguration.ClientAuthentication? {
        switch try text() {
        case "": nil
        case "RequireClientCert": .requireAny  // an older spelling
        default: try name()
        }
    }

    fileprivate func names<Name>() throws(SystemError) -> [Name] where Name: CaseIterable & RawRepresentable<String> {
        var names: [Name] = []
        for field in try list() ?? [] {
            if let name: Name = try field.name() { names.append(name) }
        }
        return names
    }
}
