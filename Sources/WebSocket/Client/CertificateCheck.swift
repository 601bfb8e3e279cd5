internal import CLibWebSockets

/// What a certificate is judged by while OpenSSL checks the chain, once for each certificate of it.
@safe struct CertificateCheck {
    private let store: OpaquePointer
    private let isGood: Bool

    /// The arguments of `LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION`.
    init(store: UnsafeMutableRawPointer, isGood: Bool) {
        unsafe self.store = OpaquePointer(store)
        self.isGood = isGood
    }

    /// Nil when it is good; else the reason in OpenSSL's words.
    /// - Parameter ipAddress: the server's own certificate must be for it; nil when OpenSSL checks a name itself.
    func verdict(ipAddress: String?) -> String? {
        if isGood, let ipAddress, unsafe X509_STORE_CTX_get_error_depth(store) == 0 {
            let certificate = unsafe X509_STORE_CTX_get_current_cert(store)
            if unsafe X509_check_ip_asc(certificate, ipAddress, 0) != 1 {
                unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_IP_ADDRESS_MISMATCH)
            }
        }
        let error = unsafe X509_STORE_CTX_get_error(store)
        if error == X509_V_OK { return nil }
        return unsafe String(cString: X509_verify_cert_error_string(Int(error)))
    }

    /// Takes it as it is.
    func accept() {
        unsafe X509_STORE_CTX_set_error(store, X509_V_OK)
    }
}
