internal import HTTPServer

/// The TLS settings of a web configuration, translated for GnuTLS.
struct TLSPriority: Equatable {
    var minimumVersion = TLSVersion.tls12
    var maximumVersion = TLSVersion.tls13
    /// For TLS 1.2 and below; empty = all.
    var cipherSuites: [TLSCipherSuite] = []
    /// Empty = all.
    var curves: [TLSCurve] = []
    var asksClients = false

    /// The configured versions, newest first.
    var versions: [TLSVersion] {
        TLSVersion.allCases.reversed().filter {
            minimumVersion.rawValue <= $0.rawValue && $0.rawValue <= maximumVersion.rawValue
        }
    }

    /// Returns the versions that a certificate with that key allows, newest first, and the ciphers for all of them.
    ///
    /// Go lists cipher suites. GnuTLS combines key exchanges with ciphers instead, and has one list of ciphers for all
    /// versions. Hence only suites that fit the certificate are used, and no suite outside the list can be negotiated.
    /// TLS 1.3 is limited to the listed ciphers unless it is the only version; Go always allows all three.
    func offer(key: TLSKeyKind) -> (versions: [TLSVersion], ciphers: [String]) {
        let suites = cipherSuites.isEmpty ? TLSCipherSuite.allCases : cipherSuites
        let ciphers = suites.filter { $0.key == key }.map(\.cipher)
        let authenticated = TLSCipherSuite.authenticatedCiphers
        if ciphers.isEmpty || versions == [.tls13] { return (versions.filter { $0 == .tls13 }, authenticated) }
        let hasCipherOfTLS13 = ciphers.contains(where: authenticated.contains)
        return (versions.filter { $0 != .tls13 || hasCipherOfTLS13 }, ciphers)
    }

    /// Returns the priority string for a certificate with that key.
    ///
    /// GnuTLS enforces the key usage of certificates; Go does not. A certificate not meant for signatures, as a common
    /// OpenSSL recipe produces, would fail every handshake. For clients' certificates, only %COMPAT lifts this. It also
    /// disables encrypt-then-MAC, which Go lacks, and the extended master secret, which protects only resumption and
    /// renegotiation; this server has neither.
    func text(key: TLSKeyKind) -> String {
        let offer = offer(key: key)
        let parts =
            ["NORMAL", "-VERS-ALL"] + offer.versions.map { "+" + $0.gnuTLSName }
            + ["-KX-ALL", "+" + key.rawValue]
            + ["-CIPHER-ALL"] + offer.ciphers.map { "+" + $0 } + ["-MAC-ALL", "+AEAD", "+SHA1"]
            + ["-GROUP-ALL"] + (curves.isEmpty ? TLSCurve.allCases : curves).map { "+" + $0.gnuTLSName }
            // RFC 9155 deprecates SHA-1 signatures.
            + ["-SIGN-RSA-SHA1", "-SIGN-ECDSA-SHA1", "-SIGN-DSA-SHA1"]
            + ["%SERVER_PRECEDENCE", "%DEBUG_ALLOW_KEY_USAGE_VIOLATIONS"] + (asksClients ? ["%COMPAT"] : [])
        return parts.joined(separator: ":")
    }
}
