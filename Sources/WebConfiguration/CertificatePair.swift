internal import CGnuTLS
internal import System

/// A server's certificate chain and its private key, loaded once to see that a server can use them.
enum CertificatePair {
    /// In the words of GnuTLS.
    enum Problem: Error, Equatable {
        case certificate(String)
        case key(String)
        /// They do not belong together.
        case pair(String)
        /// A kind of key that the cipher suites of Go, and so ours, cannot use.
        case kind(String)
    }

    /// The kind of the key; both texts are PEM, the server's certificate first.
    static func check(certificate: [UInt8], key: [UInt8]) throws(Problem) -> TLSKeyKind {
        let algorithm: gnutls_pk_algorithm_t
        do throws(SystemError) {
            algorithm = try keyAlgorithm(ofCertificate: certificate)
        } catch {
            throw .certificate(error.reason)
        }
        do throws(SystemError) {
            try readKey(key)
        } catch {
            throw .key(error.reason)
        }
        do throws(SystemError) {
            try CertificateCredentials().load(certificate: certificate, key: key)
        } catch {
            throw .pair(error.reason)
        }
        switch algorithm {
        case GNUTLS_PK_RSA, GNUTLS_PK_RSA_PSS: return .rsa
        case GNUTLS_PK_ECDSA, GNUTLS_PK_EDDSA_ED25519: return .ecdsa
        default: throw unsafe .kind(String(cString: gnutls_pk_get_name(algorithm)))
        }
    }

    /// Corresponds to `gnutls_x509_crt_import`, which reads the first certificate.
    private static func keyAlgorithm(ofCertificate pem: [UInt8]) throws(SystemError) -> gnutls_pk_algorithm_t {
        var certificate: gnutls_x509_crt_t?
        try unsafe checkGnuTLS(gnutls_x509_crt_init(&certificate))
        defer { unsafe gnutls_x509_crt_deinit(certificate) }
        try checkGnuTLS(
            unsafe withDatum(pem) { unsafe gnutls_x509_crt_import(certificate, $0, GNUTLS_X509_FMT_PEM) })
        return unsafe gnutls_pk_algorithm_t(UInt32(gnutls_x509_crt_get_pk_algorithm(certificate, nil)))
    }

    /// Corresponds to `gnutls_x509_privkey_import`.
    private static func readKey(_ pem: [UInt8]) throws(SystemError) {
        var key: gnutls_x509_privkey_t?
        try unsafe checkGnuTLS(gnutls_x509_privkey_init(&key))
        defer { unsafe gnutls_x509_privkey_deinit(key) }
        try checkGnuTLS(unsafe withDatum(pem) { unsafe gnutls_x509_privkey_import(key, $0, GNUTLS_X509_FMT_PEM) })
    }
}
