package import CGnuTLS
package import System

/// The certificates, versions and ciphers of TLS sessions, as GnuTLS has them.
@safe package final class TLSContext: @unchecked Sendable {
    // @unchecked: it is filled before a session has it; from then on GnuTLS only reads it, from any thread.
    private let credentials: gnutls_certificate_credentials_t
    private let priority: gnutls_priority_t

    /// - Parameter text: a priority string (https://gnutls.org/manual/html_node/Priority-Strings.html).
    package init(priority text: String) throws(SystemError) {
        var priority: gnutls_priority_t?
        try unsafe checkGnuTLS(gnutls_priority_init(&priority, text, nil))
        unsafe self.priority = priority!
        // Without memory, which is the one thing that it needs, nothing goes on.
        var credentials: gnutls_certificate_credentials_t?
        unsafe gnutls_certificate_allocate_credentials(&credentials)
        unsafe self.credentials = credentials!
    }

    deinit {
        unsafe gnutls_certificate_free_credentials(credentials)
        unsafe gnutls_priority_deinit(priority)
    }

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

    /// Puts this in the place of what the session has. The session must end before this does.
    package func adopt(_ session: gnutls_session_t) {
        unsafe gnutls_priority_set(session, priority)
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
    }
}
