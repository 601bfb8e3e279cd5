internal import CGnuTLS
package import System

/// The kind of a certificate's key, by the name of its key exchange in GnuTLS.
package enum TLSKeyKind: String, CaseIterable {
    case rsa = "ECDHE-RSA"
    /// Includes Ed25519, which has the same suites.
    case ecdsa = "ECDHE-ECDSA"

    /// Determines the kind of key of the first certificate in the text. Corresponds to `gnutls_x509_crt_import`.
    package init(ofCertificate pem: [UInt8]) throws(SystemError) {
        var certificate: gnutls_x509_crt_t?
        try unsafe checkGnuTLS(gnutls_x509_crt_init(&certificate))
        defer { unsafe gnutls_x509_crt_deinit(certificate) }
        try checkGnuTLS(unsafe withDatum(pem) { unsafe gnutls_x509_crt_import(certificate, $0, GNUTLS_X509_FMT_PEM) })
        let algorithm = unsafe gnutls_pk_algorithm_t(UInt32(gnutls_x509_crt_get_pk_algorithm(certificate, nil)))
        switch algorithm {
        case GNUTLS_PK_RSA, GNUTLS_PK_RSA_PSS: self = .rsa
        case GNUTLS_PK_ECDSA, GNUTLS_PK_EDDSA_ED25519: self = .ecdsa
        default:
            // None of Go's cipher suites, which are the ones supported here, can use it.
            let name = unsafe String(cString: gnutls_pk_get_name(algorithm))
            throw SystemError(.content, "its key is of the kind \(name), expected RSA, ECDSA or Ed25519")
        }
    }
}
