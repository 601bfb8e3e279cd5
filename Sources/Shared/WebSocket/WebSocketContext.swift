internal import CLibWebSockets
internal import Glibc
internal import Synchronization
internal import System

/// What happens to the sockets of a `WebSocketContext`, told on the thread that runs it.
class SocketLoop {
    /// - Parameter bytes: what has arrived; there during the call, and empty when it is not `received`.
    func handle(_ event: SocketEvent, of socket: Socket, bytes: Span<UInt8>) {}

    /// The time of `WebSocketContext.schedule` has come.
    func timerFired() {}
}

/// The one owner of an `lws_context` and of what it keeps pointers to: sockets and a timer in one loop.
///
/// Everything but `LoopWaker.wake` belongs to the thread that calls `service`.
@safe struct WebSocketContext: ~Copyable {
    /// What one `recv` takes at most.
    private static let receiveBufferBytes: UInt32 = 64 << 10

    let context: OpaquePointer
    let memory: Memory
    private let loop: SocketLoop
    private let waker: LoopWaker

    /// - Parameters:
    ///   - loop: kept until its last event, which comes while this object goes.
    ///   - interface: an IP address to listen on; empty = all of the machine's.
    ///   - maximumSockets: those that listen as well.
    ///   - waker: lets other threads end `service` from now on until this object goes.
    ///   - configure: adds what a client or a server needs.
    /// - Returns: nil when libwebsockets refuses; it does not say why.
    init?(
        _ loop: SocketLoop, interface: String = "", maximumSockets: Int, waker: LoopWaker,
        configure: (inout lws_context_creation_info) -> Void
    ) {
        lws_set_log_level(0, nil)
        let address = unsafe Unmanaged.passUnretained(loop).toOpaque()
        let memory = unsafe Memory(loop: address, interface: interface)
        var info = unsafe lws_context_creation_info()
        unsafe info.protocols = unsafe UnsafePointer(memory.protocols)
        unsafe info.retry_and_idle_policy = unsafe UnsafePointer(memory.retry)
        // The address says where to connect to, not the environment's http_proxy.
        unsafe info.http_proxy_address = unsafe UnsafePointer(memory.noProxy)
        unsafe info.user = address
        unsafe info.iface = unsafe UnsafePointer(memory.interface)
        unsafe info.pt_serv_buf_size = Self.receiveBufferBytes
        unsafe info.fd_limit_per_thread = UInt32(maximumSockets)
        // The deadlines are ours.
        unsafe info.timeout_secs = UInt32(Int32.max) / 2
        unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        // Root stays root, as it would without libwebsockets. Its header has had signed numbers here and, since 4.3,
        // unsigned ones.
        unsafe info.uid = .init(truncatingIfNeeded: -1)
        unsafe info.gid = .init(truncatingIfNeeded: -1)
        unsafe configure(&info)
        guard let context = unsafe lws_create_context(&info) else { return nil }
        unsafe self.context = context
        self.loop = loop
        self.memory = memory
        self.waker = waker
        unsafe waker.arm(context)
    }

    /// Waits for something to happen and lets the loop handle it. Corresponds to `lws_service`.
    func service() {
        _ = unsafe lws_service(context, 0)
    }

    /// Calls the loop's `timerFired` once, that long from now; an earlier call's time is forgotten.
    func schedule(in delay: Duration) {
        let microseconds = delay.components.seconds * 1_000_000 + delay.components.attoseconds / 1_000_000_000_000
        unsafe lws_sul_schedule(context, 0, &memory.timer.pointee.sul, socketTimer, max(1, microseconds))
    }

    deinit {
        waker.disarm()
        unsafe lws_sul_cancel(&memory.timer.pointee.sul)
        withExtendedLifetime(loop) { unsafe lws_context_destroy(context) }
    }
}

extension WebSocketContext {
    /// What libwebsockets keeps pointers to as long as the context is there.
    @safe struct Memory: ~Copyable {
        static let protocolName: StaticString = "feed"
        /// That of sockets whose bytes libwebsockets hands on as they are.
        static let role: StaticString = "raw-skt"

        let protocols: UnsafeMutablePointer<lws_protocols>
        /// Without a policy libwebsockets hangs up by itself after five minutes. Zeros switch that off.
        let retry: UnsafeMutablePointer<lws_retry_bo>
        let timer: UnsafeMutablePointer<CLibWebSockets_timer>
        let interface: UnsafeMutablePointer<CChar>?
        let noProxy: UnsafeMutablePointer<CChar>

        init(loop: UnsafeMutableRawPointer, interface: String) {
            unsafe protocols = .allocate(capacity: 2)
            unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
            unsafe protocols[0].name = Self.characters(of: Self.protocolName)
            unsafe protocols[0].callback = socketCallback
            unsafe retry = .allocate(capacity: 1)
            unsafe retry.initialize(to: lws_retry_bo())
            unsafe timer = .allocate(capacity: 1)
            unsafe timer.initialize(to: CLibWebSockets_timer())
            unsafe timer.pointee.owner = loop
            unsafe noProxy = .allocate(capacity: 1)
            unsafe noProxy.initialize(to: 0)
            unsafe self.interface = interface.isEmpty ? nil : strdup(interface)
        }

        static func characters(of text: StaticString) -> UnsafePointer<CChar> {
            unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        }

        deinit {
            unsafe protocols.deallocate()
            unsafe retry.deallocate()
            unsafe timer.deallocate()
            unsafe free(interface)
            unsafe noProxy.deallocate()
        }
    }
}

/// Called by libwebsockets for everything that happens to a socket; corresponds to `lws_callback_function`.
@c(airquality_socket_callback)
func socketCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    bytes: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard let event = SocketEvent(reason), let wsi = unsafe wsi,
        let owner = unsafe lws_context_user(lws_get_context(wsi))
    else { return 0 }
    let loop = unsafe Unmanaged<SocketLoop>.fromOpaque(owner).takeUnretainedValue()
    // With other events there is something else behind the pointer.
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: event == .received ? count : 0)
    unsafe loop.handle(event, of: Socket(wsi), bytes: buffer.bindMemory(to: UInt8.self).span)
    return 0
}

/// Called by libwebsockets when `WebSocketContext.schedule`'s time has come; corresponds to `sul_cb_t`.
@c(airquality_socket_timer)
func socketTimer(timer: UnsafeMutablePointer<lws_sorted_usec_list_t>?) {
    guard let timer = unsafe timer else { return }
    let owner = unsafe UnsafeMutableRawPointer(timer).assumingMemoryBound(to: CLibWebSockets_timer.self).pointee.owner!
    unsafe Unmanaged<SocketLoop>.fromOpaque(owner).takeUnretainedValue().timerFired()
}

/// Ends a wait in `lws_service` from any thread: `lws_cancel_service` is the one function that other threads may call.
@safe final class LoopWaker: Sendable {
    /// @unchecked: the pointer is only used under the lock, and taken away under it before the context is destroyed.
    @safe private struct Target: @unchecked Sendable {
        var context: OpaquePointer?
    }

    private let target = Mutex(Target())

    /// The next `service` ends at once, or the one that is waiting; nothing happens without a context.
    func wake() {
        target.withLock { target in
            if let context = unsafe target.context { unsafe lws_cancel_service(context) }
        }
    }

    func arm(_ context: OpaquePointer) {
        target.withLock { unsafe $0.context = context }
    }

    func disarm() {
        target.withLock { unsafe $0.context = nil }
    }
}
