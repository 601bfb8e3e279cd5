internal import CLibWebSockets

/// What OpenSSL says of a connection that it cannot go on with. libwebsockets throws that away.
///
/// Belongs to the thread of the connections.
final class TLSFaults {
    /// In OpenSSL's words; nil = nothing since `forget`.
    private(set) var newest: String?

    func forget() {
        newest = nil
    }

    func note(alert: Int32) {
        // OpenSSL 3.0 has no words for the alerts that are new in TLS 1.3.
        let isNew = alert & 0xFF == TLS13_AD_CERTIFICATE_REQUIRED
        let words = isNew ? "certificate required" : unsafe String(cString: SSL_alert_desc_string_long(alert))
        newest = "the server says: \(words)"
    }

    /// The newest error of this thread, if there is one.
    func noteError() {
        let error = ERR_peek_last_error()
        guard error != 0, let words = unsafe ERR_reason_error_string(error) else { return }
        newest = unsafe String(cString: words)
    }
}

/// Called by OpenSSL at the steps of a connection; corresponds to `SSL_CTX_set_info_callback`.
@c(airquality_tls_progress)
func tlsProgress(connection: OpaquePointer?, event: Int32, result: Int32) {
    guard let faults = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), 0) else { return }
    let noted = unsafe Unmanaged<TLSFaults>.fromOpaque(faults).takeUnretainedValue()
    switch event {
    // A fatal alert; the others are the goodbye.
    case SSL_CB_READ | SSL_CB_ALERT where result >> 8 == SSL3_AL_FATAL: noted.note(alert: result)
    case SSL_ST_CONNECT | SSL_CB_EXIT where result <= 0: noted.noteError()
    default: break
    }
}
