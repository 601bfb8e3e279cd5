import CGnuTLS
import Testing

@testable import WebConfiguration

@Suite struct TLSPriorityTests {
    private static let tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
    private static let both = ["TLS1.3", "TLS1.2"]

    private static func ecdhe(_ key: String) -> [String] {
        ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305", "AES_128_CBC_SHA1", "AES_256_CBC_SHA1"]
            .map { "TLS_ECDHE_\(key)_\($0)" }
    }

    /// A priority, and the versions and suites that GnuTLS reads from its text.
    @Test(
        arguments: [
            ("default", TLSPriority(), both, tls13 + ecdhe("RSA")),
            ("all versions", TLSPriority(minimumVersion: .tls10), both + ["TLS1.1", "TLS1.0"], tls13 + ecdhe("RSA")),
            (
                "one old version", TLSPriority(minimumVersion: .tls11, maximumVersion: .tls11), ["TLS1.1"],
                Array(ecdhe("RSA").suffix(2))
            ),
            (
                "TLS 1.3 alone has all its suites",
                TLSPriority(minimumVersion: .tls13, cipherSuites: [.ecdheRSAWithAES256GCM]), ["TLS1.3"], tls13
            ),
            (
                "listed suites, in their order",
                TLSPriority(cipherSuites: [.ecdheRSAWithChaCha20, .ecdheRSAWithAES256GCM, .ecdheRSAWithChaCha20]), both,
                [
                    "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_CHACHA20_POLY1305",
                    "TLS_ECDHE_RSA_AES_256_GCM_SHA384",
                ]
            ),
            (
                "no suite beyond the list when kinds are mixed",
                TLSPriority(cipherSuites: [.ecdheECDSAWithAES256GCM, .ecdheRSAWithAES128GCM]), both,
                ["TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_AES_128_GCM_SHA256"]
            ),
            (
                "a list without a cipher of TLS 1.3", TLSPriority(cipherSuites: [.ecdheRSAWithAES128CBC]), ["TLS1.2"],
                ["TLS_ECDHE_RSA_AES_128_CBC_SHA1"]
            ),
            ("a list for another key", TLSPriority(cipherSuites: [.ecdheECDSAWithAES128GCM]), ["TLS1.3"], tls13),
            ("a list of TLS 1.3's suites", TLSPriority(cipherSuites: [.aes256GCM]), ["TLS1.3"], tls13),
        ] as [(String, TLSPriority, [String], [String])])
    func `GnuTLS reads our priority`(name: String, priority: TLSPriority, versions: [String], suites: [String]) throws {
        let offer = try GnuTLSOffer(priority.text(key: .rsa))
        #expect(offer.versions == versions)
        #expect(Set(offer.suites) == Set(suites))
        let isOfTLS12 = { (suite: String) in suite.contains("ECDHE") }
        #expect(offer.suites.filter(isOfTLS12) == suites.filter(isOfTLS12), "suites keep their order within a version")
        #expect(offer.groups == ["X25519", "SECP256R1", "SECP384R1", "SECP521R1"])
    }

    @Test func `A key has suites of its kind, and curves keep their order`() throws {
        #expect(try Set(GnuTLSOffer(TLSPriority().text(key: .ecdsa)).suites) == Set(Self.tls13 + Self.ecdhe("ECDSA")))
        let offer = try GnuTLSOffer(TLSPriority(curves: [.p521, .p256, .p521]).text(key: .rsa))
        #expect(offer.groups == ["SECP521R1", "SECP256R1"])
    }

    @Test(arguments: [
        TLSPriority(maximumVersion: .tls12, cipherSuites: [.ecdheECDSAWithAES128GCM]),
        TLSPriority(minimumVersion: .tls13, maximumVersion: .tls12),
    ]) func `A priority may leave no version to negotiate`(_ priority: TLSPriority) {
        #expect(priority.offer(key: .rsa).versions.isEmpty)
    }
}

/// The offer of a priority string, with GnuTLS's own names.
private struct GnuTLSOffer {
    var versions: [String] = []
    var suites: [String] = []
    var groups: [String] = []

    init(_ priority: String) throws {
        var cache: gnutls_priority_t?
        try unsafe #require(gnutls_priority_init(&cache, priority, nil) == 0, "\(priority)")
        defer { unsafe gnutls_priority_deinit(cache) }
        var list: UnsafePointer<UInt32>?
        for index in unsafe 0..<Int(max(gnutls_priority_protocol_list(cache, &list), 0)) {
            let version = unsafe gnutls_protocol_t(list![index])
            versions.append(unsafe String(cString: gnutls_protocol_get_name(version)))
        }
        for index in unsafe 0..<Int(max(gnutls_priority_group_list(cache, &list), 0)) {
            groups.append(unsafe String(cString: gnutls_group_get_name(gnutls_group_t(list![index]))))
        }
        var index: UInt32 = 0
        while true {
            var suite: UInt32 = 0
            let result = unsafe gnutls_priority_get_cipher_suite_index(cache, index, &suite)
            if result == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE { break }
            if result == 0, let name = unsafe gnutls_cipher_suite_info(Int(suite), nil, nil, nil, nil, nil) {
                suites.append(unsafe String(cString: name).replacing("GNUTLS_", with: ""))
            }
            index += 1
        }
    }
}
