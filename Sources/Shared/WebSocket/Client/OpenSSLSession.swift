internal import CLibWebSockets
internal import System

/// Sole owner of an OpenSSL `SSL`: the client side of a TLS connection, without a socket.
///
/// The TLS of libwebsockets hides why a connection fails, does not verify the certificate of an IPv6 address, and
/// works only with its own HTTP client.
@safe struct OpenSSLSession: ~Copyable {
    enum Step {
        /// The handshake is complete; `send` may be called from now on.
        case established
        case plaintext([UInt8])
        /// The server has closed its half of the connection.
        case ended
    }

    private let ssl: OpaquePointer
    /// Memory BIOs, owned by `ssl`: bytes from the wire and bytes for it.
    private let received: OpaquePointer
    private let outgoing: OpaquePointer

    init(_ address: WebSocketAddress, _ tls: WebSocketTLS) throws(TLSFileError) {
        let context = try OpenSSLContext(tls)
        unsafe ssl = SSL_new(context.context)!
        unsafe received = BIO_new(BIO_s_mem())!
        unsafe outgoing = BIO_new(BIO_s_mem())!
        unsafe SSL_set_bio(ssl, received, outgoing)
        unsafe SSL_set_connect_state(ssl)
        unsafe SSL_set_verify(ssl, tls.skipsVerification ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        if isNumericAddress(address.host) {
            _ = unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address.host)
        } else {
            // Certificates and SNI (RFC 6066, section 3) name hosts without a trailing dot.
            let name = address.host.hasSuffix(".") ? String(address.host.dropLast()) : address.host
            _ = unsafe SSL_set1_host(ssl, name)
            // The macro SSL_set_tlsext_host_name.
            _ = unsafe name.withCString { host in
                unsafe SSL_ctrl(
                    ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: host))
            }
        }
        let protocols = [8] + Array("http/1.1".utf8)
        _ = unsafe SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count))
    }

    private var isEstablished: Bool { unsafe SSL_is_init_finished(ssl) == 1 }

    /// When the server's certificate expires, in epoch milliseconds; `nil` before the handshake.
    func certificateExpiry() -> Int64? {
        guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        defer { unsafe X509_free(certificate) }
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else { return nil }
        return (Int64(days) * 86_400 + Int64(seconds)) * 1000
    }

    /// Accepts bytes from the wire, for `next` to process.
    func receive(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { _ = unsafe BIO_write(received, $0.baseAddress, Int32($0.count)) }
    }

    /// Processes received bytes, if any; `nil` if more are needed. `takeOutput` then has a reply, even after an error.
    func next() throws(SystemError) -> Step? {
        ERR_clear_error()
        guard isEstablished else {
            let result = unsafe SSL_do_handshake(ssl)
            return result == 1 ? .established : try end(after: result, isHandshake: true)
        }
        var result: Int32 = 0
        // A record holds up to 16 KiB.
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            result = unsafe SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
            count = Int(max(result, 0))
        }
        return result > 0 ? .plaintext(plaintext) : try end(after: result, isHandshake: false)
    }

    /// Encrypts all bytes, since a memory BIO accepts any number; returns `false` if the session has failed.
    func send(_ bytes: [UInt8]) -> Bool {
        ERR_clear_error()
        return unsafe SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count
    }

    func takeOutput() -> [UInt8] {
        let count = unsafe BIO_ctrl_pending(outgoing)
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            written = unsafe Int(BIO_read(outgoing, buffer.baseAddress, Int32(count)))
        }
    }

    /// Interprets a call that has not succeeded; `nil` if it needs more bytes from the wire.
    private func end(after result: Int32, isHandshake: Bool) throws(SystemError) -> Step? {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return nil
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: throw SystemError(.system, reason(isHandshake: isHandshake))
        }
    }

    // After a fatal error OpenSSL no longer knows whether the session was established.
    private func reason(isHandshake: Bool) -> String {
        let error = ERR_peek_last_error()
        let alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET
        if ERR_GET_LIB(error) == ERR_LIB_SSL, alert >= 0 {
            // OpenSSL 3.0 has no text for the alerts that TLS 1.3 introduced.
            let words =
                alert == TLS13_AD_CERTIFICATE_REQUIRED
                ? "certificate required" : unsafe String(cString: SSL_alert_desc_string_long(alert))
            return "TLS alert from the server: \(words)"
        }
        let verdict = unsafe SSL_get_verify_result(ssl)
        if isHandshake, verdict != X509_V_OK, unsafe SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE {
            return unsafe "the server's certificate: " + String(cString: X509_verify_cert_error_string(verdict))
        }
        let isPlain = isHandshake && ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER
        return newestOpenSSLError() + (isPlain ? ": the server does not speak TLS, did you mean ws://?" : "")
    }

    deinit { unsafe SSL_free(ssl) }
}
