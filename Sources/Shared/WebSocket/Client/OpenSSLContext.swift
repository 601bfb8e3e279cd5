internal import CLibWebSockets
internal import System

/// Sole owner of an OpenSSL `SSL_CTX` for `wss://` addresses; sessions retain what they need of it.
@safe struct OpenSSLContext: ~Copyable {
    let context: OpaquePointer

    init(_ tls: WebSocketTLS) throws(TLSFileError) {
        // Fails only when out of memory, and then nothing else works either.
        unsafe context = SSL_CTX_new(TLS_client_method())!
        // The macros SSL_CTX_set_min_proto_version and SSL_CTX_set_mode.
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // The macro SSL_OP_NO_RENEGOTIATION: a handshake between messages would delay what is to be sent.
        _ = unsafe SSL_CTX_set_options(context, 1 << 30)
        if let file = tls.caFile {
            // As in Go and curl, an intermediate authority or the server's own certificate is enough.
            _ = unsafe X509_STORE_set_flags(SSL_CTX_get_cert_store(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
            try unsafe Self.use(file, as: .authorities) { pem in
                unsafe Self.readCertificates(pem) { _, certificate in
                    unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1
                }
            }
        } else {
            // Without the system's authorities no server is trusted; each connection then reports that.
            _ = unsafe SSL_CTX_set_default_verify_paths(context)
        }
        guard let file = tls.certificateFile else { return }
        try unsafe Self.use(file, as: .certificate) { pem in
            unsafe Self.readCertificates(pem) { index, certificate in
                if index == 0 { return unsafe SSL_CTX_use_certificate(context, certificate) == 1 }
                // The other certificates lead to its authority: the macro SSL_CTX_add1_chain_cert.
                return unsafe SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)) == 1
            }
        }
        try unsafe Self.use(tls.keyFile ?? file, as: .key) { pem in
            guard let key = unsafe PEM_read_bio_PrivateKey(pem, nil, noPassPhrase, nil) else { return false }
            defer { unsafe EVP_PKEY_free(key) }
            // The second call would accept a key of another type than the certificate's.
            return unsafe X509_check_private_key(SSL_CTX_get0_certificate(context), key) == 1
                && SSL_CTX_use_PrivateKey(context, key) == 1
        }
    }

    /// Passes each certificate in a file to `use`, with its index; `false` if there is none or one is unusable.
    private static func readCertificates(_ pem: OpaquePointer, _ use: (Int, OpaquePointer) -> Bool) -> Bool {
        var count = 0
        while let certificate = unsafe PEM_read_bio_X509_AUX(pem, nil, noPassPhrase, nil) {
            defer { unsafe X509_free(certificate) }
            guard unsafe use(count, certificate) else { return false }
            count += 1
        }
        // OpenSSL reports the end of the file as an error.
        let error = ERR_peek_last_error()
        return count > 0 && ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE
    }

    /// Loads a file. OpenSSL gets the content, not the name, which might be that of a pipe by then and block it.
    private static func use(
        _ file: String, as role: TLSFileError.Role, with load: (_ pem: OpaquePointer) -> Bool
    ) throws(TLSFileError) {
        do throws(SystemError) {
            let content = try readFile(file, limit: 16 << 20)
            ERR_clear_error()
            let isUsable = unsafe content.withUnsafeBytes { bytes in
                guard let pem = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return false }
                defer { unsafe BIO_free(pem) }
                return unsafe load(pem)
            }
            guard isUsable else {
                throw SystemError(.system, "cannot use the \(role.rawValue) in \(file): \(newestOpenSSLError())")
            }
        } catch {
            throw TLSFileError(role: role, path: file, reason: error.reason)
        }
        ERR_clear_error()
    }

    deinit { unsafe SSL_CTX_free(context) }
}

/// Fails on encrypted keys instead of prompting; corresponds to `pem_password_cb`.
@c(airquality_no_pass_phrase)
private func noPassPhrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { 0 }

/// Returns OpenSSL's text for this thread's latest error, and clears its errors.
func newestOpenSSLError() -> String {
    let error = ERR_peek_last_error()
    ERR_clear_error()
    guard let words = unsafe ERR_reason_error_string(error) else { return "unknown error" }
    return unsafe String(cString: words)
}
