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

    /// The error of a certificate and a key that do not belong together.
    static let mismatch = SystemError(.tls, describe(gnuTLS: GNUTLS_E_CERTIFICATE_KEY_MISMATCH))

    /// Corresponds to `gnutls_certificate_set_x509_trust_mem`; the authorities are PEM.
    package func trust(_ authorities: [UInt8]) throws(SystemError) {
        try checkGnuTLS(
            unsafe withDatum(authorities) {
                unsafe gnutls_certificate_set_x509_trust_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
            })
    }

    /// Corresponds to `gnutls_credentials_set`: the session points to these from now on.
    package func adopt(_ session: gnutls_session_t) {
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
    }
}

extension TLSKeyKind {
    /// The kind of a certificate's key.
    ///
    /// - Throws: what is wrong with the certificate, to go behind its name.
    init(certificate pem: [UInt8]) throws(SystemError) {
        let algorithm: gnutls_pk_algorithm_t
        do throws(SystemError) {
            algorithm = try X509Certificate(pem: pem).keyAlgorithm
        } catch {
            throw SystemError(.tls, "cannot be read as a certificate: \(error.reason)")
        }
        switch algorithm {
        case GNUTLS_PK_RSA, GNUTLS_PK_RSA_PSS: self = .rsa
        case GNUTLS_PK_ECDSA, GNUTLS_PK_EDDSA_ED25519: self = .ecdsa
        default:
            // The cipher suites of Go, and so ours, cannot use it.
            let name = unsafe String(cString: gnutls_pk_get_name(algorithm))
            throw SystemError(.tls, "is for a key of the kind \(name), expected RSA, ECDSA or Ed25519")
        }
    }
}

/// The certificates of a PEM text that can be read, as PEM; `nil` when there is none. Other text is skipped, as Go
/// skips it where it reads a pool of authorities.
func readableCertificates(_ pem: [UInt8]) -> [UInt8]? {
    let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    let end = Array("-----END CERTIFICATE-----".utf8)
    var certificates: [UInt8] = []
    var rest = pem[...]
    while let start = rest.firstRange(of: begin), let stop = rest[start.upperBound...].firstRange(of: end) {
        let block = Array(rest[start.lowerBound..<stop.upperBound]) + [UInt8(ascii: "\n")]
        if (try? X509Certificate(pem: block)) != nil { certificates += block }
        rest = rest[stop.upperBound...]
    }
    return certificates.isEmpty ? nil : certificates
}

/// The owner of a `gnutls_x509_crt_t`.
@safe private struct X509Certificate: ~Copyable {
    private let certificate: gnutls_x509_crt_t

    /// Reads the first certificate of the text. Corresponds to `gnutls_x509_crt_import`.
    init(pem: [UInt8]) throws(SystemError) {
        var allocated: gnutls_x509_crt_t?
        try unsafe checkGnuTLS(gnutls_x509_crt_init(&allocated))
        let result = unsafe withDatum(pem) { unsafe gnutls_x509_crt_import(allocated, $0, GNUTLS_X509_FMT_PEM) }
        guard result >= 0 else {
            unsafe gnutls_x509_crt_deinit(allocated)
            throw SystemError(.tls, describe(gnuTLS: result))
        }
        unsafe certificate = allocated!
    }

    deinit { unsafe gnutls_x509_crt_deinit(certificate) }

    var keyAlgorithm: gnutls_pk_algorithm_t {
        unsafe gnutls_pk_algorithm_t(UInt32(gnutls_x509_crt_get_pk_algorithm(certificate, nil)))
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
