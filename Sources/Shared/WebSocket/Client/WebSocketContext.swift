internal import CLibWebSockets
internal import System

/// The one owner of an `lws_context` and of what it keeps pointers to: a client's sockets and a timer in one loop.
///
/// Everything but `LoopWaker.wake` belongs to the thread that calls `service`.
@safe struct WebSocketContext: ~Copyable {
    /// Limit of one `recv`.
    private static let receiveBufferBytes: UInt32 = 64 << 10
    /// One connection, and those before it that end within a second.
    private static let maximumSockets: UInt32 = 64

    let context: OpaquePointer
    private let memory: Memory
    private let loop: ClientLoop
    private let waker: LoopWaker

    /// - Parameters:
    ///   - loop: handles the events; kept until the last one, which comes while this object goes.
    ///   - waker: lets other threads end `service` from now on until this object goes.
    /// - Returns: `nil` when libwebsockets fails; it does not say why.
    init?(_ loop: ClientLoop, waker: LoopWaker) {
        lws_set_log_level(0, nil)
        let address = unsafe Unmanaged.passUnretained(loop).toOpaque()
        var info = unsafe lws_context_creation_info()
        let memory = unsafe Memory(loop: address, log: CLibWebSockets_log(&info))
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.protocols = unsafe UnsafePointer(memory.protocols)
        // Ignore http_proxy.
        unsafe info.http_proxy_address = unsafe Memory.characters(of: "")
        unsafe info.user = address
        unsafe info.pt_serv_buf_size = Self.receiveBufferBytes
        unsafe info.fd_limit_per_thread = Self.maximumSockets
        // The deadlines are ours.
        unsafe info.timeout_secs = UInt32(Int32.max) / 2
        unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        // Root stays root, as it would without libwebsockets. Debian 12: the numbers in its header are signed, later
        // unsigned.
        unsafe info.uid = .init(truncatingIfNeeded: -1)
        unsafe info.gid = .init(truncatingIfNeeded: -1)
        guard let context = unsafe lws_create_context(&info) else { return nil }
        unsafe self.context = context
        self.loop = loop
        self.memory = memory
        self.waker = waker
        unsafe waker.aim(at: context)
    }

    /// Waits for something to happen and lets the loop handle it. Corresponds to `lws_service`.
    func service() { _ = unsafe lws_service(context, 0) }

    /// Calls the loop's `timerFired` once, that long from now; an earlier call's time is forgotten.
    func schedule(in delay: Duration) {
        let microseconds = delay.components.seconds * 1_000_000 + delay.components.attoseconds / 1_000_000_000_000
        unsafe lws_sul_schedule(context, 0, &memory.timer.pointee.sul, socketTimer, max(1, microseconds))
    }

    /// Begins to connect; `nil` when that failed at once. The loop knows the socket by its number, and may have heard
    /// of it before this returns.
    func dial(_ ipAddress: String, port: Int, number: Int) -> Socket? {
        var info = unsafe lws_client_connect_info()
        unsafe info.context = context
        unsafe info.port = Int32(port)
        unsafe info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
        unsafe info.local_protocol_name = unsafe memory.protocols[0].name
        unsafe info.method = unsafe Memory.characters(of: "RAW")
        // libwebsockets copies the strings.
        let wsi = unsafe ipAddress.withCString { address in
            unsafe info.address = address
            unsafe info.host = address
            return unsafe lws_client_connect_via_info(&info)
        }
        return unsafe wsi.map { unsafe Socket($0) }
    }

    deinit {
        unsafe waker.aim(at: nil)
        unsafe lws_sul_cancel(&memory.timer.pointee.sul)
        withExtendedLifetime(loop) { unsafe lws_context_destroy(context) }
    }
}

extension WebSocketContext {
    /// Memory to which libwebsockets keeps pointers as long as the context is there.
    @safe fileprivate struct Memory: ~Copyable {
        let protocols: UnsafeMutablePointer<lws_protocols>
        let timer: UnsafeMutablePointer<CLibWebSockets_timer>
        private let log: UnsafeMutableRawPointer?

        init(loop: UnsafeMutableRawPointer, log: UnsafeMutableRawPointer?) {
            unsafe self.log = log
            unsafe protocols = .allocate(capacity: 2)
            unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
            unsafe protocols[0].name = Self.characters(of: "feed")
            unsafe protocols[0].callback = socketCallback
            unsafe timer = .allocate(capacity: 1)
            unsafe timer.initialize(to: CLibWebSockets_timer())
            unsafe timer.pointee.owner = loop
        }

        static func characters(of text: StaticString) -> UnsafePointer<CChar> {
            unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        }

        deinit {
            unsafe protocols.deallocate()
            unsafe timer.deallocate()
            unsafe free(log)
        }
    }
}

/// Called by libwebsockets for everything that happens to a socket; corresponds to `lws_callback_function`.
@c(airquality_socket_callback)
private func socketCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    bytes: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard let event = SocketEvent(reason), let wsi = unsafe wsi,
        let owner = unsafe lws_context_user(lws_get_context(wsi))
    else { return 0 }
    let loop = unsafe Unmanaged<ClientLoop>.fromOpaque(owner).takeUnretainedValue()
    // With other events there is something else behind the pointer.
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: event == .received ? count : 0)
    unsafe loop.handle(event, of: Socket(wsi), bytes: buffer.bindMemory(to: UInt8.self).span)
    return 0
}

/// Called by libwebsockets when `WebSocketContext.schedule`'s time has come; corresponds to `sul_cb_t`.
@c(airquality_socket_timer)
private func socketTimer(timer: UnsafeMutablePointer<lws_sorted_usec_list_t>?) {
    guard let timer = unsafe timer else { return }
    let owner = unsafe UnsafeMutableRawPointer(timer).assumingMemoryBound(to: CLibWebSockets_timer.self).pointee.owner!
    unsafe Unmanaged<ClientLoop>.fromOpaque(owner).takeUnretainedValue().timerFired()
}
