internal import CLibWebSockets
internal import System

/// The one owner of an OpenSSL `SSL`: the client's side of a TLS connection, without a socket. It decrypts bytes from
/// the network and encrypts bytes for the server.
///
/// libwebsockets could do this too, but hides why a connection fails, does not check the certificate of an IPv6
/// address, and takes TLS for its own HTTP client alone.
@safe struct OpenSSLSession: ~Copyable {
    private let ssl: OpaquePointer
    /// Memory, which belongs to `ssl`: what has come from the wire, and what is to go there.
    private let received: OpaquePointer
    private let outgoing: OpaquePointer
    private let plaintext: UnsafeMutableBufferPointer<UInt8>

    init(_ ssl: OpaquePointer, _ address: WebSocketAddress, skipsVerification: Bool) {
        unsafe self.ssl = ssl
        unsafe received = BIO_new(BIO_s_mem())!
        unsafe outgoing = BIO_new(BIO_s_mem())!
        unsafe plaintext = .allocate(capacity: 64 << 10)
        unsafe SSL_set_bio(ssl, received, outgoing)
        unsafe SSL_set_connect_state(ssl)
        unsafe SSL_set_verify(ssl, skipsVerification ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        if isNumericAddress(address.host) {
            _ = unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address.host)
        } else {
            _ = unsafe SSL_set1_host(ssl, address.host)
            // SSL_set_tlsext_host_name, which is a macro.
            _ = unsafe address.host.withCString { host in
                unsafe SSL_ctrl(
                    ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: host))
            }
        }
        let protocols = [8] + Array("http/1.1".utf8)
        _ = unsafe SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count))
    }

    /// True after the handshake; only then `send` may be called.
    var isEstablished: Bool { unsafe SSL_is_init_finished(ssl) == 1 }

    /// Goes on with what has come from the wire, with nothing as well. `takeOutput` has the answer, also after a fault.
    /// - Parameters:
    ///   - onEstablished: called when the handshake is over.
    ///   - onPlaintext: called with what the server has sent, which is only there during the call.
    /// - Returns: false when the server has ended its half of the connection.
    func receive(
        _ bytes: Span<UInt8>, onEstablished: () -> Void, onPlaintext: (Span<UInt8>) -> Void
    ) throws(SystemError) -> Bool {
        unsafe bytes.withUnsafeBytes { _ = unsafe BIO_write(received, $0.baseAddress, Int32($0.count)) }
        ERR_clear_error()
        if !isEstablished {
            let result = unsafe SSL_do_handshake(ssl)
            if result != 1 { return try state(after: result).get() }
            onEstablished()
        }
        var count = 0
        while true {
            let result = unsafe SSL_read(ssl, plaintext.baseAddress! + count, Int32(plaintext.count - count))
            count += Int(max(result, 0))
            // A record has up to 16 KiB; several of them are handed on together.
            if result > 0, unsafe count < plaintext.count { continue }
            // Before anything else is asked of OpenSSL.
            let state = result > 0 ? nil : state(after: result)
            if count > 0 { onPlaintext(unsafe plaintext.span.extracting(first: count)) }
            count = 0
            if let state { return try state.get() }
        }
    }

    /// Encrypts bytes for the server, all of them, which a memory BIO accepts; false when the session has failed.
    func send(_ bytes: [UInt8]) -> Bool {
        ERR_clear_error()
        return unsafe SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count
    }

    /// Removes and returns the bytes for the wire.
    func takeOutput() -> [UInt8] {
        let count = unsafe BIO_ctrl_pending(outgoing)
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            written = unsafe Int(BIO_read(outgoing, buffer.baseAddress, Int32(count)))
        }
    }

    /// After a call that has not succeeded: true when it needs more bytes from the wire.
    private func state(after result: Int32) -> Result<Bool, SystemError> {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: .success(true)
        case SSL_ERROR_ZERO_RETURN: .success(false)
        default: .failure(SystemError(.tls, reason))
        }
    }

    private var reason: String {
        let error = ERR_peek_last_error()
        let alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET
        if ERR_GET_LIB(error) == ERR_LIB_SSL, alert >= 0 {
            // OpenSSL 3.0 has no words for the alerts that are new in TLS 1.3.
            let words =
                alert == TLS13_AD_CERTIFICATE_REQUIRED
                ? "certificate required" : unsafe String(cString: SSL_alert_desc_string_long(alert))
            return "the server says: \(words)"
        }
        let verdict = unsafe SSL_get_verify_result(ssl)
        if !isEstablished, verdict != X509_V_OK, unsafe SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE {
            return unsafe "the server's certificate: " + String(cString: X509_verify_cert_error_string(verdict))
        }
        let isPlain = !isEstablished && ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER
        return newestOpenSSLError() + (isPlain ? ": the server does not speak TLS, ws:// instead of wss://?" : "")
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe plaintext.deallocate()
    }
}
