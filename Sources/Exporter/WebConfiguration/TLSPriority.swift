/// The protocol versions by the names that the web configuration has for them.
enum TLSVersion: String, CaseIterable, Comparable {
    case tls10 = "TLS10"
    case tls11 = "TLS11"
    case tls12 = "TLS12"
    case tls13 = "TLS13"

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    fileprivate var gnuTLSName: String { "VERS-TLS1.\(rawValue.last!)" }
}

/// The groups of an ECDHE key exchange by their names in Go, in the order that is used when none is configured.
enum TLSCurve: String, CaseIterable {
    case x25519 = "X25519"
    case p256 = "CurveP256"
    case p384 = "CurveP384"
    case p521 = "CurveP521"

    fileprivate var gnuTLSName: String { self == .x25519 ? "GROUP-X25519" : "GROUP-SECP\(rawValue.suffix(3))R1" }
}

/// The kind of a certificate's key by the key exchange that it is for in GnuTLS.
enum TLSKeyKind: String, CaseIterable {
    case rsa = "ECDHE-RSA"
    /// Ed25519 as well: the suites are the same.
    case ecdsa = "ECDHE-ECDSA"
}

/// The cipher suites by their names in Go: those of `tls.CipherSuites()` since Go 1.22, in the order that is used when
/// none is configured.
enum TLSCipherSuite: String, CaseIterable {
    case ecdheECDSAWithAES128GCM = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    case ecdheRSAWithAES128GCM = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    case ecdheECDSAWithAES256GCM = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    case ecdheRSAWithAES256GCM = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    case ecdheECDSAWithChaCha20 = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
    case ecdheRSAWithChaCha20 = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
    case ecdheECDSAWithAES128CBC = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"
    case ecdheRSAWithAES128CBC = "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"
    case ecdheECDSAWithAES256CBC = "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"
    case ecdheRSAWithAES256CBC = "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"
    case aes128GCM = "TLS_AES_128_GCM_SHA256"
    case aes256GCM = "TLS_AES_256_GCM_SHA384"
    case chaCha20 = "TLS_CHACHA20_POLY1305_SHA256"

    /// GnuTLS's names of the ciphers of TLS 1.3.
    fileprivate static let authenticatedCiphers = ["AES-128-GCM", "AES-256-GCM", "CHACHA20-POLY1305"]

    /// GnuTLS's name of the cipher that is in its name.
    fileprivate var cipher: String {
        let ciphers = Self.authenticatedCiphers + ["AES-128-CBC", "AES-256-CBC"]
        return ciphers.first { rawValue.contains($0.replacing("-", with: "_")) }!
    }

    /// The certificate's kind of key that the suite needs; `nil` for those of TLS 1.3, which take any.
    fileprivate var key: TLSKeyKind? {
        TLSKeyKind.allCases.first { rawValue.contains($0.rawValue.replacing("-", with: "_") + "_WITH") }
    }
}

/// TLS settings of a web configuration, translated for GnuTLS.
struct TLSPriority: Equatable {
    var minimumVersion = TLSVersion.tls12
    var maximumVersion = TLSVersion.tls13
    /// For TLS 1.2 and below; empty = all.
    var cipherSuites: [TLSCipherSuite] = []
    /// Empty = all.
    var curves: [TLSCurve] = []

    /// The versions that are configured, the newest first.
    var versions: [TLSVersion] {
        TLSVersion.allCases.reversed().filter { minimumVersion <= $0 && $0 <= maximumVersion }
    }

    /// The versions that can be spoken with a certificate of that key, the newest first, and the ciphers for all of
    /// them.
    ///
    /// Go lists cipher suites. GnuTLS combines key exchanges with ciphers instead, and has one list of ciphers for all
    /// versions. So only the suites that fit the certificate are used, and no suite outside the list can be negotiated.
    /// TLS 1.3 is limited to the listed ciphers unless it is the only version; Go always allows all three.
    func offer(key: TLSKeyKind) -> (versions: [TLSVersion], ciphers: [String]) {
        let suites = cipherSuites.isEmpty ? TLSCipherSuite.allCases : cipherSuites
        let ciphers = suites.filter { $0.key == key }.map(\.cipher)
        let authenticated = TLSCipherSuite.authenticatedCiphers
        if ciphers.isEmpty || versions == [.tls13] { return (versions.filter { $0 == .tls13 }, authenticated) }
        let hasCipherOfTLS13 = ciphers.contains(where: authenticated.contains)
        return (versions.filter { $0 != .tls13 || hasCipherOfTLS13 }, ciphers)
    }

    /// A priority string (https://gnutls.org/manual/html_node/Priority-Strings.html) for a certificate with that key.
    ///
    /// GnuTLS enforces the key usage of certificates, Go does not: one that is not for signatures, as a common recipe
    /// for OpenSSL makes them, would fail every handshake.
    func text(key: TLSKeyKind) -> String {
        let offer = offer(key: key)
        let parts =
            ["NORMAL", "-VERS-ALL"] + offer.versions.map { "+" + $0.gnuTLSName }
            + ["-KX-ALL", "+" + key.rawValue]
            + ["-CIPHER-ALL"] + offer.ciphers.map { "+" + $0 } + ["-MAC-ALL", "+AEAD", "+SHA1"]
            + ["-GROUP-ALL"] + (curves.isEmpty ? TLSCurve.allCases : curves).map { "+" + $0.gnuTLSName }
            // RFC 9155.
            + ["-SIGN-RSA-SHA1", "-SIGN-ECDSA-SHA1", "-SIGN-DSA-SHA1"]
            + ["%SERVER_PRECEDENCE", "%DEBUG_ALLOW_KEY_USAGE_VIOLATIONS"]
        return parts.joined(separator: ":")
    }
}
