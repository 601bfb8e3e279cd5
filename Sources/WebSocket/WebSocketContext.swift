internal import CLibWebSockets
internal import Glibc
internal import System

/// The one owner of an `lws_context` and of what it keeps pointers to.
///
/// Everything but `Waker.wake` belongs to the thread that calls `service`.
@safe struct WebSocketContext: ~Copyable {
    /// `lws_callback_function`, as a pointer to one.
    typealias Callback =
        @convention(c) (
            OpaquePointer?, lws_callback_reasons, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int
        ) -> Int32

    let context: OpaquePointer
    let memory: Memory
    private let owner: AnyObject
    private let waker: Waker
    /// Of a client with a `wss://` address: a virtual host, which is libwebsockets' own, and what it was made of.
    var secureHost: OpaquePointer?
    var tls: OpenSSLContext?
    var tlsFiles: [FileStamp?] = []

    /// - Parameters:
    ///   - owner: whom the callbacks look for; kept until the last of them, which comes while this object goes.
    ///   - waker: lets other threads end `service` from now on until this object goes.
    ///   - configure: adds what a client or a server needs.
    ///   - interface: an IP address to listen on; empty = all of the machine's.
    /// - Returns: nil when libwebsockets refuses; it does not say why.
    init?(
        owner: AnyObject, callback: @escaping Callback, onTimer: @escaping sul_cb_t,
        interface: String = "", waker: Waker, configure: (inout lws_context_creation_info) -> Void
    ) {
        lws_set_log_level(0, nil)
        let ownerAddress = unsafe Unmanaged.passUnretained(owner).toOpaque()
        let memory = unsafe Memory(owner: ownerAddress, callback: callback, onTimer: onTimer, interface: interface)
        var info = unsafe lws_context_creation_info()
        unsafe info.protocols = unsafe UnsafePointer(memory.protocols)
        unsafe info.retry_and_idle_policy = unsafe UnsafePointer(memory.retry)
        // The address says where to connect to, not the environment's http_proxy.
        unsafe info.http_proxy_address = unsafe UnsafePointer(memory.noProxy)
        unsafe info.user = ownerAddress
        unsafe info.iface = unsafe UnsafePointer(memory.interface)
        // Root stays root, as it would without libwebsockets.
        unsafe info.uid = -1
        unsafe info.gid = -1
        unsafe configure(&info)
        guard let context = unsafe lws_create_context(&info) else { return nil }
        unsafe self.context = context
        self.owner = owner
        self.memory = memory
        self.waker = waker
        unsafe secureHost = nil
        tls = nil
        unsafe waker.arm(context)
    }

    /// Waits for something to happen and lets the owner know. Corresponds to `lws_service`.
    func service() {
        _ = unsafe lws_service(context, 0)
    }

    /// Calls the owner's `timerFired` once, that long from now; an earlier call's time is forgotten.
    func schedule(in delay: Duration) {
        let microseconds = delay.components.seconds * 1_000_000 + delay.components.attoseconds / 1_000_000_000_000
        unsafe lws_sul_schedule(context, 0, &memory.timer.pointee.sul, memory.onTimer, max(1, microseconds))
    }

    deinit {
        waker.disarm()
        unsafe lws_sul_cancel(&memory.timer.pointee.sul)
        withExtendedLifetime(owner) { unsafe lws_context_destroy(context) }
    }
}

extension WebSocketContext {
    /// What libwebsockets keeps pointers to as long as the context is there.
    @safe struct Memory: ~Copyable {
        let protocols: UnsafeMutablePointer<lws_protocols>
        /// Without a policy libwebsockets pings and hangs up by itself after five minutes. Zeros switch that off.
        let retry: UnsafeMutablePointer<lws_retry_bo>
        let timer: UnsafeMutablePointer<CLibWebSockets_timer>
        let onTimer: sul_cb_t
        let interface: UnsafeMutablePointer<CChar>?
        let noProxy: UnsafeMutablePointer<CChar>

        private static let protocolName: StaticString = "feed"

        init(
            owner: UnsafeMutableRawPointer, callback: @escaping Callback, onTimer: @escaping sul_cb_t,
            interface: String
        ) {
            unsafe protocols = .allocate(capacity: 2)
            unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
            unsafe protocols[0].name = UnsafeRawPointer(Self.protocolName.utf8Start).assumingMemoryBound(to: CChar.self)
            unsafe protocols[0].callback = callback
            // Else a long message goes out in pieces of a few kilobytes.
            unsafe protocols[0].tx_packet_size = Int(Int32.max) / 2
            unsafe retry = .allocate(capacity: 1)
            unsafe retry.initialize(to: lws_retry_bo())
            unsafe timer = .allocate(capacity: 1)
            unsafe timer.initialize(to: CLibWebSockets_timer())
            unsafe timer.pointee.owner = owner
            unsafe self.onTimer = onTimer
            unsafe noProxy = .allocate(capacity: 1)
            unsafe noProxy.initialize(to: 0)
            unsafe self.interface = interface.isEmpty ? nil : strdup(interface)
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
