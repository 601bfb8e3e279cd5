internal import CLibWebSockets

extension WebSocketContext {
    /// What one `recv` takes at most, measured: see Tests/Benchmarks.
    static let receiveBufferBytes: UInt32 = 64 << 10

    init(client owner: ClientLoop, waker: Waker) throws(TransportError) {
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
        guard let made else { throw TransportError(.system, "libwebsockets cannot make a context") }
        self = made
    }

    /// Begins to connect; false when that failed at once. The callbacks know the connection by its number.
    func dial(_ number: Int, _ dial: ConnectionState.Dial) -> Bool {
        var info = unsafe lws_client_connect_info()
        unsafe info.context = context
        unsafe info.port = Int32(dial.address.port)
        // Without the first flag it would ask for `Connection: close`.
        unsafe info.ssl_connection = Int32(LCCSCF_PIPELINE.rawValue | LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
        unsafe info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
        unsafe info.retry_and_idle_policy = unsafe UnsafePointer(memory.retry)
        unsafe info.local_protocol_name = unsafe memory.protocols[0].name
        // libwebsockets copies the strings.
        return unsafe dial.ipAddress.withCString { ipAddress in
            unsafe dial.address.hostHeader.withCString { host in
                unsafe dial.address.target.withCString { target in
                    unsafe "GET".withCString { method in
                        unsafe info.address = ipAddress
                        unsafe info.host = host
                        unsafe info.path = target
                        unsafe info.method = method
                        return unsafe lws_client_connect_via_info(&info) != nil
                    }
                }
            }
        }
    }
}
