package import CGnuTLS
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
