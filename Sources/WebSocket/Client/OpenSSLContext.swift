internal import CLibWebSockets
internal import System

/// The one owner of an OpenSSL `SSL_CTX` for `wss://` addresses, which libwebsockets borrows.
///
/// Made here and not by libwebsockets, which hides what is wrong with a file, trusts a folder `../share` when it is given
/// no authorities, and does not free what it makes for a context that has not initialised OpenSSL itself.
@safe struct OpenSSLContext: ~Copyable {
    let context: OpaquePointer
    private let faults: TLSFaults

    /// - Parameter faults: notes what goes wrong on the connections.
    init(_ tls: WebSocketTLS, faults: TLSFaults) throws(SystemError) {
        self.faults = faults
        _ = Self.isInitialised
        // Without memory, which is the one thing that it needs, nothing goes on.
        unsafe context = SSL_CTX_new(TLS_client_method())!
        // SSL_CTX_set_min_proto_version and SSL_CTX_set_mode, which are macros.
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode = UInt32(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) | UInt32(SSL_MODE_RELEASE_BUFFERS)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(mode), nil)
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(faults).toOpaque())
        unsafe SSL_CTX_set_info_callback(context, tlsProgress)
        // A key with a pass phrase is an error, not a question on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
        if let file = tls.caFile {
            try unsafe Self.use(file, "the authorities in") { unsafe SSL_CTX_load_verify_file(context, $0) }
        } else if unsafe SSL_CTX_set_default_verify_paths(context) != 1 {
            throw SystemError(.tls, "cannot use the system's authorities: \(Self.reason)")
        }
        if let file = tls.certificateFile {
            try unsafe Self.use(file, "the certificate in") { unsafe SSL_CTX_use_certificate_chain_file(context, $0) }
            let keyFile = tls.keyFile ?? file
            try unsafe Self.use(keyFile, "the key in") { path in
                unsafe SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM)
            }
        }
    }

    /// libwebsockets notes its own place in OpenSSL's objects in a global when it is asked to initialise OpenSSL. A
    /// second time would put the connections of another thread's context in the wrong: once, for the whole process.
    private static let isInitialised: Bool = {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.uid = -1
        unsafe info.gid = -1
        unsafe info.fd_limit_per_thread = 1
        unsafe info.options =
            UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        unsafe lws_context_destroy(lws_create_context(&info))
        return true
    }()

    private static func use(
        _ file: String, _ what: String, with load: (UnsafePointer<CChar>) -> Int32
    ) throws(SystemError) {
        // Says why a file cannot be read, which OpenSSL does in its own words.
        _ = try readFile(file, limit: 16 << 20)
        ERR_clear_error()
        guard unsafe file.withCString({ unsafe load($0) }) == 1 else {
            throw SystemError(.tls, "cannot use \(what) \(file): \(reason)")
        }
    }

    /// The newest error of this thread in OpenSSL's words.
    static var reason: String {
        let error = ERR_peek_last_error()
        ERR_clear_error()
        guard let words = unsafe ERR_reason_error_string(error) else { return "unknown error" }
        return unsafe String(cString: words)
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }
}
