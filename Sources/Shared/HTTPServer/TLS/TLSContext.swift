package import CGnuTLS
package import System

/// Certificates, versions and ciphers for TLS sessions, as held by GnuTLS.
@safe package final class TLSContext: @unchecked Sendable {
    // @unchecked: filled before the first session uses it; from then on GnuTLS only reads it, from any thread.
    private let credentials: gnutls_certificate_credentials_t
    private let priority: gnutls_priority_t

    /// - Parameter text: a priority string (https://gnutls.org/manual/html_node/Priority-Strings.html).
    package init(priority text: String) throws(SystemError) {
        var priority: gnutls_priority_t?
        try unsafe checkGnuTLS(gnutls_priority_init(&priority, text, nil))
        unsafe self.priority = priority!
        // Fails only when out of memory, where a trap is the right outcome.
        var credentials: gnutls_certificate_credentials_t?
        unsafe gnutls_certificate_allocate_credentials(&credentials)
        unsafe self.credentials = credentials!
    }

    deinit {
        unsafe gnutls_certificate_free_credentials(credentials)
        unsafe gnutls_priority_deinit(priority)
    }

    /// Loads a PEM certificate and its key, which must match. Corresponds to `gnutls_certificate_set_x509_key_mem`.
    package func load(certificate: [UInt8], key: [UInt8]) throws(SystemError) {
        try checkGnuTLS(
            unsafe withDatum(certificate) { certificate in
                unsafe withDatum(key) { key in
                    unsafe gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM)
                }
            })
    }

    /// Adds PEM authorities, at least one. Corresponds to `gnutls_certificate_set_x509_trust_mem`.
    package func trust(_ authorities: [UInt8]) throws(SystemError) {
        let count = unsafe withDatum(authorities) {
            unsafe gnutls_certificate_set_x509_trust_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
        }
        try checkGnuTLS(count == 0 ? GNUTLS_E_NO_CERTIFICATE_FOUND : count)
    }

    /// Makes a session use this context, which must outlive it.
    package func adopt(_ session: gnutls_session_t) {
        unsafe gnutls_priority_set(session, priority)
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
    }
}
