internal import HTTPServer

/// The cipher suites of Go's `tls.CipherSuites()` since Go 1.22 by their names there, in the default order.
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

    /// GnuTLS's names of the TLS 1.3 ciphers.
    static let authenticatedCiphers = ["AES-128-GCM", "AES-256-GCM", "CHACHA20-POLY1305"]

    /// GnuTLS's name of the suite's cipher.
    var cipher: String {
        let ciphers = Self.authenticatedCiphers + ["AES-128-CBC", "AES-256-CBC"]
        return ciphers.first { rawValue.contains($0.replacing("-", with: "_")) }!
    }

    /// The kind of certificate key that the suite requires; `nil` for TLS 1.3 suites, which take any.
    var key: TLSKeyKind? {
        TLSKeyKind.allCases.first { rawValue.contains($0.rawValue.replacing("-", with: "_") + "_WITH") }
    }
}
