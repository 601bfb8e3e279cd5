internal import CLibWebSockets
internal import System

/// The one owner of an OpenSSL `SSL_CTX` for `wss://` addresses. Sessions keep what they need of it.
@safe struct OpenSSLContext: ~Copyable {
    let context: OpaquePointer

    init(_ tls: WebSocketTLS) throws(TLSFileError) {
        // Without memory, which is the one thing that it needs, nothing goes on.
        unsafe context = SSL_CTX_new(TLS_client_method())!
        // SSL_CTX_set_min_proto_version and SSL_CTX_set_mode, which are macros.
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // SSL_OP_NO_RENEGOTIATION, which is a macro: a handshake amid messages would hold up what is to be sent.
        _ = unsafe SSL_CTX_set_options(context, 1 << 30)
        if let file = tls.caFile {
            try unsafe Self.use(file, as: .authorities) { pem in
                unsafe Self.readCertificates(pem) { _, certificate in
                    unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1
                }
            }
        } else {
            // Without the system's authorities no server is trusted, which each connection says then.
            _ = unsafe SSL_CTX_set_default_verify_paths(context)
        }
        guard let file = tls.certificateFile else { return }
        try unsafe Self.use(file, as: .certificate) { pem in
            unsafe Self.readCertificates(pem) { number, certificate in
                if number == 0 { return unsafe SSL_CTX_use_certificate(context, certificate) == 1 }
                // The certificates after it lead to its authority: SSL_CTX_add1_chain_cert, which is a macro.
                return unsafe SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)) == 1
            }
        }
        try unsafe Self.use(tls.keyFile ?? file, as: .key) { pem in
            guard let key = unsafe PEM_read_bio_PrivateKey(pem, nil, noPassPhrase, nil) else { return false }
            defer { unsafe EVP_PKEY_free(key) }
            // A key of another kind than the certificate's is taken, and compared with it only then.
            return unsafe SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
        }
    }

    /// Gives each certificate of a file to `use`, with its number; false when none is there, or one is not usable.
    private static func readCertificates(_ pem: OpaquePointer, _ use: (Int, OpaquePointer) -> Bool) -> Bool {
        var count = 0
        while let certificate = unsafe PEM_read_bio_X509_AUX(pem, nil, noPassPhrase, nil) {
            defer { unsafe X509_free(certificate) }
            guard unsafe use(count, certificate) else { return false }
            count += 1
        }
        // The end of the file is an error of OpenSSL like any other.
        let error = ERR_peek_last_error()
        return count > 0 && ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE
    }

    /// OpenSSL gets the content and not the name, which may be that of a pipe by then, on which it would wait.
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

/// The newest error of this thread in OpenSSL's words; it is forgotten then.
func newestOpenSSLError() -> String {
    let error = ERR_peek_last_error()
    ERR_clear_error()
    guard let words = unsafe ERR_reason_error_string(error) else { return "unknown error" }
    return unsafe String(cString: words)
}
