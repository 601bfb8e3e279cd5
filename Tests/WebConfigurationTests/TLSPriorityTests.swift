import CGnuTLS
import Testing

@testable import WebConfiguration

@Suite struct TLSPriorityTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var priority: TLSPriority
        var key = TLSKeyKind.rsa
        /// What GnuTLS makes of the string.
        var versions: [String]
        var suites: [String]
        var groups = ["X25519", "SECP256R1", "SECP384R1", "SECP521R1"]
        var testDescription: String { name }

        static let tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]

        static func ecdhe(_ key: String) -> [String] {
            [
                "TLS_ECDHE_\(key)_AES_128_GCM_SHA256", "TLS_ECDHE_\(key)_AES_256_GCM_SHA384",
                "TLS_ECDHE_\(key)_CHACHA20_POLY1305", "TLS_ECDHE_\(key)_AES_128_CBC_SHA1",
                "TLS_ECDHE_\(key)_AES_256_CBC_SHA1",
            ]
        }

        static let all = [
            Case(
                name: "default, RSA", priority: TLSPriority(), versions: ["TLS1.3", "TLS1.2"],
                suites: tls13 + ecdhe("RSA")),
            Case(
                name: "default, ECDSA", priority: TLSPriority(), key: .ecdsa, versions: ["TLS1.3", "TLS1.2"],
                suites: tls13 + ecdhe("ECDSA")),
            Case(
                name: "all versions", priority: TLSPriority(minimumVersion: .tls10),
                versions: ["TLS1.3", "TLS1.2", "TLS1.1", "TLS1.0"], suites: tls13 + ecdhe("RSA")),
            Case(
                name: "one old version", priority: TLSPriority(minimumVersion: .tls11, maximumVersion: .tls11),
                versions: ["TLS1.1"], suites: Array(ecdhe("RSA").suffix(2))),
            Case(
                name: "TLS 1.3 alone has all its suites",
                priority: TLSPriority(minimumVersion: .tls13, cipherSuites: [.ecdheRSAWithAES256GCM]),
                versions: ["TLS1.3"], suites: tls13),
            Case(
                name: "listed suites, in their order",
                priority: TLSPriority(
                    cipherSuites: [.ecdheRSAWithChaCha20, .ecdheRSAWithAES256GCM, .ecdheRSAWithChaCha20]),
                versions: ["TLS1.3", "TLS1.2"],
                suites: [
                    "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_CHACHA20_POLY1305",
                    "TLS_ECDHE_RSA_AES_256_GCM_SHA384",
                ]),
            Case(
                name: "no suite beyond the list when kinds are mixed",
                priority: TLSPriority(cipherSuites: [.ecdheECDSAWithAES256GCM, .ecdheRSAWithAES128GCM]),
                versions: ["TLS1.3", "TLS1.2"], suites: ["TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_AES_128_GCM_SHA256"]),
            Case(
                name: "a list without a cipher of TLS 1.3",
                priority: TLSPriority(cipherSuites: [.ecdheRSAWithAES128CBC]),
                versions: ["TLS1.2"], suites: ["TLS_ECDHE_RSA_AES_128_CBC_SHA1"]),
            Case(
                name: "a list for another key", priority: TLSPriority(cipherSuites: [.ecdheECDSAWithAES128GCM]),
                versions: ["TLS1.3"], suites: tls13),
            Case(
                name: "a list of TLS 1.3's suites", priority: TLSPriority(cipherSuites: [.aes256GCM]),
                versions: ["TLS1.3"], suites: tls13),
            Case(
                name: "curves in their order", priority: TLSPriority(curves: [.p521, .p256, .p521]),
                versions: ["TLS1.3", "TLS1.2"], suites: tls13 + ecdhe("RSA"), groups: ["SECP521R1", "SECP256R1"]),
        ]
    }

    @Test(arguments: Case.all) func `Choices are what GnuTLS understands of them`(_ scenario: Case) throws {
        let offer = try GnuTLSOffer(scenario.priority.text(key: scenario.key))
        #expect(offer.versions == scenario.versions)
        #expect(Set(offer.suites) == Set(scenario.suites))
        #expect(offer.groups == scenario.groups)
    }

    @Test(arguments: [
        TLSPriority(maximumVersion: .tls12, cipherSuites: [.ecdheECDSAWithAES128GCM]),
        TLSPriority(minimumVersion: .tls13, maximumVersion: .tls12),
    ]) func `Choices may leave nothing to be spoken`(_ priority: TLSPriority) {
        #expect(priority.offer(key: .rsa).versions.isEmpty)
    }

    @Test func `Suites keep their order within a version`() throws {
        let priority = TLSPriority(cipherSuites: [.ecdheRSAWithChaCha20, .ecdheRSAWithAES256GCM])
        let offer = try GnuTLSOffer(priority.text(key: .rsa))
        #expect(
            offer.suites.filter { $0.contains("ECDHE") } == [
                "TLS_ECDHE_RSA_CHACHA20_POLY1305", "TLS_ECDHE_RSA_AES_256_GCM_SHA384",
            ])
    }
}

/// What a priority string offers, in GnuTLS's own words.
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
