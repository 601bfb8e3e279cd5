internal import CLibWebSockets
internal import System

extension WebSocketContext {
    /// What one `recv` takes at most.
    static let receiveBufferBytes: UInt32 = 64 << 10

    static func client(_ owner: ClientLoop, waker: Waker) throws(SystemError) -> WebSocketContext {
        let made = unsafe WebSocketContext(
            owner: owner, callback: webSocketClientEvent,
            onTimer: webSocketClientTimer, waker: waker
        ) { info in
            unsafe info.port = CONTEXT_PORT_NO_LISTEN
            unsafe info.pt_serv_buf_size = Self.receiveBufferBytes
            // One connection, and a few before it that still say goodbye.
            unsafe info.fd_limit_per_thread = 8
            // The deadlines are ours.
            unsafe info.timeout_secs = UInt32(Int32.max) / 2
            unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        }
        guard let made else { throw SystemError(.system, "libwebsockets cannot make a context") }
        return made
    }

    /// Begins to connect; false when that failed at once. The callbacks know the connection by its number.
    func dial(_ number: Int, _ dial: ConnectionState.Dial) -> Bool {
        let isSecure = dial.address.isSecure
        var info = unsafe lws_client_connect_info()
        unsafe info.context = context
        unsafe info.port = Int32(dial.address.port)
        // Without the first flag it would ask for `Connection: close`.
        var flags = LCCSCF_PIPELINE.rawValue | LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue
        if isSecure { flags |= LCCSCF_USE_SSL.rawValue }
        // libwebsockets takes what stands before the first colon for the host's name: `CertificateCheck` does it.
        if dial.address.isIPv6 { flags |= LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue }
        unsafe info.ssl_connection = Int32(flags)
        unsafe info.vhost = isSecure ? secureHost : plainHost
        unsafe info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
        unsafe info.retry_and_idle_policy = unsafe UnsafePointer(memory.retry)
        unsafe info.local_protocol_name = unsafe memory.protocols[0].name
        // libwebsockets copies the strings.
        return unsafe dial.ipAddress.withCString { ipAddress in
            unsafe dial.address.hostHeader.withCString { host in
                unsafe dial.address.target.withCString { target in
                    unsafe "GET".withCString { method in
                        unsafe "http/1.1".withCString { protocols in
                            unsafe info.address = ipAddress
                            unsafe info.host = host
                            unsafe info.path = target
                            unsafe info.method = method
                            unsafe info.alpn = protocols
                            return unsafe lws_client_connect_via_info(&info) != nil
                        }
                    }
                }
            }
        }
    }

    /// The virtual host that libwebsockets has made with the context.
    private var plainHost: OpaquePointer? {
        unsafe "default".withCString { unsafe lws_get_vhost_by_name(context, $0) }
    }

    /// Makes what `dial` needs for a `wss://` address, again when a file has changed.
    mutating func prepareForTLS(_ tls: WebSocketTLS, faults: TLSFaults) throws(SystemError) {
        let files = [tls.caFile, tls.certificateFile, tls.keyFile].map { $0.flatMap(FileStamp.init) }
        if unsafe secureHost != nil, tlsFiles == files { return }
        let tlsContext = try OpenSSLContext(tls, faults: faults)
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.protocols = unsafe UnsafePointer(memory.protocols)
        unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        unsafe info.provided_client_ssl_ctx = unsafe tlsContext.context
        unsafe info.timeout_secs = UInt32(Int32.max) / 2
        unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        unsafe info.http_proxy_address = unsafe UnsafePointer(memory.noProxy)
        let made = unsafe "tls".withCString { name in
            // Copied.
            unsafe info.vhost_name = name
            return unsafe lws_create_vhost(context, &info)
        }
        guard let host = unsafe made else {
            throw SystemError(.tls, "libwebsockets cannot make a host for TLS")
        }
        if let old = unsafe secureHost { unsafe lws_vhost_destroy(old) }
        unsafe secureHost = host
        self.tls = consume tlsContext
        tlsFiles = files
    }
}
