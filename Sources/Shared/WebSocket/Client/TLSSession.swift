internal import CLibWebSockets
internal import System

/// TLS settings of `wss://` addresses; files are PEM, read again when they change.
public struct WebSocketTLS: Sendable, Equatable {
    /// The authorities to trust instead of the system's.
    public var caFile: String?
    public var certificateFile: String?
    public var keyFile: String?
    /// Neither the certificate's issuer nor its name nor its dates are checked.
    public var skipsVerification = false

    public init() {}

    /// Reads the files as a connection does.
    public func check() throws(FeedOptionError) {
        if caFile != nil || certificateFile != nil { _ = try OpenSSLContext(self) }
    }

    var fileStamps: [FileStamp?] { [caFile, certificateFile, keyFile].map { $0.flatMap(FileStamp.init) } }
}

/// The one owner of an OpenSSL `SSL_CTX` for `wss://` addresses. Sessions keep what they need of it.
@safe struct OpenSSLContext: ~Copyable {
    private let context: OpaquePointer
    private let skipsVerification: Bool

    init(_ tls: WebSocketTLS) throws(FeedOptionError) {
        // Without memory, which is the one thing that it needs, nothing goes on.
        unsafe context = SSL_CTX_new(TLS_client_method())!
        skipsVerification = tls.skipsVerification
        // SSL_CTX_set_min_proto_version and SSL_CTX_set_mode, which are macros.
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // SSL_OP_NO_RENEGOTIATION, which is a macro: a handshake amid messages would hold up what is to be sent.
        _ = unsafe SSL_CTX_set_options(context, 1 << 30)
        if let file = tls.caFile {
            try unsafe Self.use(
                file, as: "authorities", of: \.tls.caFile, expected: "certificates of authorities in PEM"
            ) { unsafe Self.trust($0, context) }
        } else {
            // Without the system's authorities no server is trusted, which each connection says then.
            _ = unsafe SSL_CTX_set_default_verify_paths(context)
        }
        guard let file = tls.certificateFile else { return }
        try unsafe Self.use(
            file, as: "certificate", of: \.tls.certificateFile, expected: "a certificate in PEM"
        ) { unsafe Self.show($0, context) }
        try unsafe Self.use(
            tls.keyFile ?? file, as: "key", of: \.tls.keyFile,
            expected: "the certificate's key in PEM, without a pass phrase"
        ) { pem in
            guard let key = unsafe PEM_read_bio_PrivateKey(pem, nil, noPassPhrase, nil) else { return false }
            defer { unsafe EVP_PKEY_free(key) }
            // A key of another kind than the certificate's is taken, and compared with it only then.
            return unsafe SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
        }
    }

    /// Trusts all certificates of a file; false when there are none.
    private static func trust(_ pem: OpaquePointer, _ context: OpaquePointer) -> Bool {
        var count = 0
        while let certificate = unsafe PEM_read_bio_X509_AUX(pem, nil, noPassPhrase, nil) {
            defer { unsafe X509_free(certificate) }
            guard unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 else { return false }
            count += 1
        }
        return count > 0 && isEnd
    }

    /// Shows the first certificate of a file to servers, and the others, which lead to its authority.
    private static func show(_ pem: OpaquePointer, _ context: OpaquePointer) -> Bool {
        guard let own = unsafe PEM_read_bio_X509_AUX(pem, nil, noPassPhrase, nil) else { return false }
        defer { unsafe X509_free(own) }
        guard unsafe SSL_CTX_use_certificate(context, own) == 1 else { return false }
        while let other = unsafe PEM_read_bio_X509(pem, nil, noPassPhrase, nil) {
            defer { unsafe X509_free(other) }
            // SSL_CTX_add1_chain_cert, which is a macro.
            guard unsafe SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(other)) == 1 else {
                return false
            }
        }
        return isEnd
    }

    /// True if OpenSSL read no further certificate because the file ended.
    private static var isEnd: Bool {
        let error = ERR_peek_last_error()
        return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE
    }

    /// OpenSSL gets the content and not the name: what it would open may be another file by then, such as a pipe, on
    /// which it would wait.
    private static func use(
        _ file: String, as name: String, of member: any PartialKeyPath<FeedClientOptions> & Sendable,
        expected: String, with load: (_ pem: OpaquePointer) -> Bool
    ) throws(FeedOptionError) {
        do throws(SystemError) {
            let content = try readFile(file, limit: 16 << 20)
            ERR_clear_error()
            let isUsable = unsafe content.withUnsafeBytes { bytes in
                guard let pem = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return false }
                defer { unsafe BIO_free(pem) }
                return unsafe load(pem)
            }
            guard isUsable else {
                throw SystemError(.tls, "cannot use the \(name) in \(file): \(newestOpenSSLError())")
            }
        } catch {
            throw FeedOptionError(
                member: member, path: file, expected: "\(expected): \(error.reason)", reason: error.reason)
        }
        ERR_clear_error()
    }

    /// Begins a connection to the server of an address.
    func makeSession(for address: WebSocketAddress) -> TLSSession {
        unsafe TLSSession(SSL_new(context)!, address, skipsVerification: skipsVerification)
    }

    deinit { unsafe SSL_CTX_free(context) }
}

/// The one owner of an OpenSSL `SSL`: the client's side of a TLS connection, without a socket. It decrypts bytes from
/// the network and encrypts bytes for the server.
///
/// libwebsockets could do this too, but hides why a connection fails, does not check the certificate of an IPv6 address,
/// and takes TLS for its own HTTP client alone.
@safe struct TLSSession: ~Copyable {
    private let ssl: OpaquePointer
    /// Memory, which belongs to `ssl`: what has come from the wire, and what is to go there.
    private let received: OpaquePointer
    private let outgoing: OpaquePointer
    private let plaintext: UnsafeMutableBufferPointer<UInt8>

    fileprivate init(_ ssl: OpaquePointer, _ address: WebSocketAddress, skipsVerification: Bool) {
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

/// Fails on encrypted keys instead of prompting; corresponds to `pem_password_cb`.
@c(airquality_no_pass_phrase)
private func noPassPhrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { 0 }

/// The newest error of this thread in OpenSSL's words; it is forgotten then.
private func newestOpenSSLError() -> String {
    let error = ERR_peek_last_error()
    ERR_clear_error()
    guard let words = unsafe ERR_reason_error_string(error) else { return "unknown error" }
    return unsafe String(cString: words)
}
