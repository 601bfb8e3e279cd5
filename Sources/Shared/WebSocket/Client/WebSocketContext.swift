internal import CLibWebSockets
internal import System

/// Sole owner of an `lws_context`: the event loop of a client's sockets. Confined to the thread that calls `service`.
@safe struct WebSocketContext: ~Copyable {
    let context: OpaquePointer
    private let loop: ClientLoop
    // libwebsockets keeps pointers to these.
    private let timer: UnsafeMutablePointer<Timer>
    private let log: UnsafeMutableRawPointer?

    /// libwebsockets gets a pointer to the first member, and hence to the whole.
    @safe fileprivate struct Timer {
        var entry = unsafe lws_sorted_usec_list_t()
        let context: OpaquePointer
    }

    nonisolated(unsafe) private static let protocols: UnsafePointer<lws_protocols> = {
        // An empty entry ends the list.
        let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
        unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
        unsafe protocols[0].name = unsafe Self.characters(of: "feed")
        unsafe protocols[0].callback = socketCallback
        return unsafe UnsafePointer(protocols)
    }()

    /// Retains the loop, which gets events until the context is destroyed. The client lets other threads interrupt
    /// `service`. `nil` if libwebsockets fails; it gives no reason.
    init?(_ loop: ClientLoop) {
        lws_set_log_level(0, nil)
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.protocols = unsafe Self.protocols
        // Ignore http_proxy.
        unsafe info.http_proxy_address = unsafe Self.characters(of: "")
        unsafe info.user = unsafe Unmanaged.passUnretained(loop).toOpaque()
        // Limit on one `recv`.
        unsafe info.pt_serv_buf_size = 64 << 10
        // One connection, and earlier ones that close within a second.
        unsafe info.fd_limit_per_thread = 64
        // `ConnectionState` keeps the deadlines.
        unsafe info.timeout_secs = UInt32(Int32.max) / 2
        unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        // Keep user and group. Debian 12: these fields of libwebsockets are signed, later unsigned.
        unsafe info.uid = .init(truncatingIfNeeded: -1)
        unsafe info.gid = .init(truncatingIfNeeded: -1)
        let log = unsafe CLibWebSockets_log(&info)
        guard let context = unsafe lws_create_context(&info) else {
            unsafe free(log)
            return nil
        }
        unsafe self.context = context
        unsafe self.log = log
        self.loop = loop
        unsafe timer = .allocate(capacity: 1)
        unsafe timer.initialize(to: Timer(context: context))
        unsafe loop.client.setContext(context)
    }

    private static func characters(of text: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// Waits for socket events, for at most `time`, and passes them to the loop. Corresponds to `lws_service`.
    func service(within time: Duration) {
        scheduleTimer(after: time)
        wait()
    }

    func scheduleTimer(after time: Duration) {
        let entry = unsafe UnsafeMutableRawPointer(timer).assumingMemoryBound(to: lws_sorted_usec_list_t.self)
        // libwebsockets waits for whole milliseconds, rounded down.
        unsafe lws_sul_schedule(context, 0, entry, timerFired, (Int64(time.pollMilliseconds) + 1) * 1000)
    }

    /// Waits for socket events or the timer.
    func wait() { _ = unsafe lws_service(context, 0) }

    /// Starts to connect; `nil` if that fails at once. The loop may get events for `connectionID` before this returns.
    func dial(_ ipAddress: String, port: Int, connectionID: Int) -> Socket? {
        var info = unsafe lws_client_connect_info()
        unsafe info.context = context
        unsafe info.port = Int32(port)
        unsafe info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: connectionID)
        unsafe info.local_protocol_name = unsafe Self.protocols[0].name
        unsafe info.method = unsafe Self.characters(of: "RAW")
        // libwebsockets copies the strings.
        let wsi = unsafe ipAddress.withCString { address in
            unsafe info.address = address
            unsafe info.host = address
            return unsafe lws_client_connect_via_info(&info)
        }
        return unsafe wsi.map { unsafe Socket($0) }
    }

    deinit {
        unsafe loop.client.setContext(nil)
        unsafe lws_sul_cancel(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: lws_sorted_usec_list_t.self))
        withExtendedLifetime(loop) { unsafe lws_context_destroy(context) }
        unsafe timer.deallocate()
        unsafe free(log)
    }
}

/// Called by libwebsockets for each socket event; corresponds to `lws_callback_function`.
@c(airquality_socket_callback)
private func socketCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    bytes: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard let wsi = unsafe wsi, let owner = unsafe lws_context_user(lws_get_context(wsi)) else { return 0 }
    let loop = unsafe Unmanaged<ClientLoop>.fromOpaque(owner).takeUnretainedValue()
    // For other events, `bytes` points to something else.
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: reason == LWS_CALLBACK_RAW_RX ? count : 0)
    unsafe loop.handle(reason, of: Socket(wsi), bytes: buffer.bindMemory(to: UInt8.self).span)
    return 0
}

/// Called by libwebsockets when the timer's time has passed; corresponds to `sul_cb_t`. Without the interruption,
/// a timer that fires before the wait has begun would leave it to the next one of libwebsockets, 30 s later.
@c(airquality_timer_fired)
private func timerFired(entry: UnsafeMutablePointer<lws_sorted_usec_list_t>?) {
    guard let entry = unsafe entry else { return }
    unsafe lws_cancel_service(
        UnsafeMutableRawPointer(entry).assumingMemoryBound(to: WebSocketContext.Timer.self).pointee.context)
}
