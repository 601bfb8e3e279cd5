internal import CLibWebSockets
internal import Glibc
internal import Synchronization
internal import System

/// Handler of the events of a `WebSocketContext`, on the thread that runs it.
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
    /// Limit of one `recv`.
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
    /// - Returns: `nil` when libwebsockets refuses; it does not say why.
    init?(
        _ loop: SocketLoop, interface: String = "", maximumSockets: Int, waker: LoopWaker,
        configure: (inout lws_context_creation_info) -> Void
    ) {
        lws_set_log_level(0, nil)
        let address = unsafe Unmanaged.passUnretained(loop).toOpaque()
        var info = unsafe lws_context_creation_info()
        let memory = unsafe Memory(loop: address, interface: interface, log: CLibWebSockets_log(&info))
        unsafe info.protocols = unsafe UnsafePointer(memory.protocols)
        // Ignore http_proxy.
        unsafe info.http_proxy_address = unsafe Memory.characters(of: "")
        unsafe info.user = address
        unsafe info.iface = unsafe UnsafePointer(memory.interface)
        unsafe info.pt_serv_buf_size = Self.receiveBufferBytes
        unsafe info.fd_limit_per_thread = UInt32(maximumSockets)
        // The deadlines are ours.
        unsafe info.timeout_secs = UInt32(Int32.max) / 2
        unsafe info.connect_timeout_secs = UInt32(Int32.max) / 2
        // Root stays root, as it would without libwebsockets. Debian 12: the numbers in its header are signed, later
        // unsigned.
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
    func service() { _ = unsafe lws_service(context, 0) }

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
    /// Memory to which libwebsockets keeps pointers as long as the context is there.
    @safe struct Memory: ~Copyable {
        static let protocolName: StaticString = "feed"
        /// Name of the role of sockets whose bytes libwebsockets hands on as they are.
        static let role: StaticString = "raw-skt"

        let protocols: UnsafeMutablePointer<lws_protocols>
        let timer: UnsafeMutablePointer<CLibWebSockets_timer>
        let interface: UnsafeMutablePointer<CChar>?
        private let log: UnsafeMutableRawPointer?

        init(loop: UnsafeMutableRawPointer, interface: String, log: UnsafeMutableRawPointer?) {
            unsafe self.log = log
            unsafe protocols = .allocate(capacity: 2)
            unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
            unsafe protocols[0].name = Self.characters(of: Self.protocolName)
            unsafe protocols[0].callback = socketCallback
            unsafe timer = .allocate(capacity: 1)
            unsafe timer.initialize(to: CLibWebSockets_timer())
            unsafe timer.pointee.owner = loop
            unsafe self.interface = interface.isEmpty ? nil : strdup(interface)
        }

        static func characters(of text: StaticString) -> UnsafePointer<CChar> {
            unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        }

        deinit {
            unsafe protocols.deallocate()
            unsafe timer.deallocate()
            unsafe free(interface)
            unsafe free(log)
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

    func arm(_ context: OpaquePointer) { target.withLock { unsafe $0.context = context } }

    func disarm() { target.withLock { unsafe $0.context = nil } }
}

/// The relevant events of a connection.
enum SocketEvent: Equatable {
    /// The TCP connection is there: one of ours to a server, or one of a client's to us.
    case connected
    /// Bytes have arrived.
    case received
    case writable
    /// May be delivered more than once, even without a `connected`.
    case ended

    /// The event of a callback, `nil` for those that do not matter here: libwebsockets is not asked to speak HTTP, TLS
    /// or WebSocket.
    init?(_ reason: lws_callback_reasons) {
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED, LWS_CALLBACK_RAW_ADOPT: self = .connected
        case LWS_CALLBACK_RAW_RX: self = .received
        case LWS_CALLBACK_RAW_WRITEABLE: self = .writable
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR, LWS_CALLBACK_RAW_CLOSE, LWS_CALLBACK_WSI_DESTROY: self = .ended
        default: return nil
        }
    }
}

/// An `lws`: a socket in a context's loop. There from its first event, or from the dial that made it, until `ended`.
@safe struct Socket {
    private let wsi: OpaquePointer

    init(_ wsi: OpaquePointer) { unsafe self.wsi = wsi }

    /// Tells it from all other sockets that are there.
    var key: UInt { unsafe UInt(bitPattern: wsi) }

    /// The number that it was dialled with.
    var number: Int { unsafe Int(bitPattern: lws_get_opaque_user_data(wsi)) }

    /// Asks for one `writable`.
    func wantToWrite() { unsafe lws_callback_on_writable(wsi) }

    /// The number of bytes that the kernel has taken; `nil` when the connection is broken.
    ///
    /// Corresponds to `send`. `lws_write` keeps what the kernel does not take, and as long as it does, libwebsockets
    /// reads nothing and does not wait either: a peer that sends and never reads would take all of the processor.
    func send(_ bytes: Span<UInt8>) -> Int? {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(
                lws_get_socket_fd(wsi), $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if sent >= 0 { return sent }
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : nil
    }

    /// The peer reads the end of the stream behind what was sent.
    func endSending() { shutdown(unsafe lws_get_socket_fd(wsi), Int32(SHUT_WR)) }

    /// The peer's key in limits, see `IPAddress.client`.
    var client: [UInt8] {
        let descriptor = unsafe lws_get_socket_fd(wsi)
        return unsafe SocketAddress.filled { unsafe getpeername(descriptor, $0, $1) }?.address.ip.client ?? []
    }

    /// Ends the socket after that many seconds; `nil` takes the deadline away.
    func setDeadline(seconds: Int32?) {
        unsafe lws_set_timeout(wsi, seconds == nil ? NO_PENDING_TIMEOUT : PENDING_TIMEOUT_USER_OK, seconds ?? 0)
    }

    /// Ends the socket in the loop's next turn, and not from within this call.
    func kill() { unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC) }

    /// Bytes on their way to a peer that does not acknowledge them end the connection after that long (tcp(7)).
    func setUserTimeout(_ timeout: Duration) {
        var milliseconds = timeout.pollMilliseconds
        let size = socklen_t(MemoryLayout.size(ofValue: milliseconds))
        _ = unsafe setsockopt(lws_get_socket_fd(wsi), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
    }
}
