package import CGnuTLS
internal import Glibc
package import System

/// The owner of a `gnutls_certificate_credentials_t`.
@safe package struct CertificateCredentials: ~Copyable {
    private let credentials: gnutls_certificate_credentials_t

    package init() throws(SystemError) {
        var allocated: gnutls_certificate_credentials_t?
        try unsafe checkGnuTLS(gnutls_certificate_allocate_credentials(&allocated))
        unsafe credentials = allocated!
    }

    deinit { unsafe gnutls_certificate_free_credentials(credentials) }

    /// Corresponds to `gnutls_certificate_set_x509_key_mem`, which compares the key with the certificate; both are PEM.
    package func load(certificate: [UInt8], key: [UInt8]) throws(SystemError) {
        try checkGnuTLS(
            unsafe withDatum(certificate) { certificate in
                unsafe withDatum(key) { key in
                    unsafe gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM)
                }
            })
    }

    /// Corresponds to `gnutls_certificate_set_x509_trust_mem`; the authorities are PEM, and at least one.
    package func trust(_ authorities: [UInt8]) throws(SystemError) {
        let count = unsafe withDatum(authorities) {
            unsafe gnutls_certificate_set_x509_trust_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
        }
        try checkGnuTLS(count == 0 ? GNUTLS_E_NO_CERTIFICATE_FOUND : count)
    }

    /// Corresponds to `gnutls_credentials_set`: the session points to these from now on.
    package func adopt(_ session: gnutls_session_t) {
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
    }
}

extension TLSKeyKind {
    /// The kind of the key of a certificate, the first one of the text. Corresponds to `gnutls_x509_crt_import`.
    init(ofCertificate pem: [UInt8]) throws(SystemError) {
        var certificate: gnutls_x509_crt_t?
        try unsafe checkGnuTLS(gnutls_x509_crt_init(&certificate))
        defer { unsafe gnutls_x509_crt_deinit(certificate) }
        try checkGnuTLS(unsafe withDatum(pem) { unsafe gnutls_x509_crt_import(certificate, $0, GNUTLS_X509_FMT_PEM) })
        let algorithm = unsafe gnutls_pk_algorithm_t(UInt32(gnutls_x509_crt_get_pk_algorithm(certificate, nil)))
        switch algorithm {
        case GNUTLS_PK_RSA, GNUTLS_PK_RSA_PSS: self = .rsa
        case GNUTLS_PK_ECDSA, GNUTLS_PK_EDDSA_ED25519: self = .ecdsa
        default:
            // The cipher suites of Go, and so ours, cannot use it.
            let name = unsafe String(cString: gnutls_pk_get_name(algorithm))
            throw SystemError(.tls, "its key is of the kind \(name), expected RSA, ECDSA or Ed25519")
        }
    }
}

// MARK: - GnuTLS

/// Throws what GnuTLS says of a negative result.
package func checkGnuTLS(_ result: Int32) throws(SystemError) {
    guard result < 0 else { return }
    throw SystemError(.tls, describe(gnuTLS: result))
}

/// Corresponds to `gnutls_strerror`, without the full stop.
package func describe(gnuTLS error: Int32) -> String {
    let text = unsafe String(cString: gnutls_strerror(error))
    return text.hasSuffix(".") ? String(text.dropLast()) : text
}

/// Lends the bytes as GnuTLS takes them; it only reads them.
package func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result {
    unsafe bytes.withUnsafeBufferPointer { bytes in
        let start = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        var datum = unsafe gnutls_datum_t(data: start, size: UInt32(bytes.count))
        return unsafe body(&datum)
    }
}
