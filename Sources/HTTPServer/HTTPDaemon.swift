internal import CLibMicroHTTPD
internal import Glibc
internal import System

/// The owner of an `MHD_Daemon`: one thread in `poll` that serves the connections given to it.
///
/// The daemon does not listen: its own accepting cannot be ended safely while it runs (`MHD_quiesce_daemon` races with
/// the daemon's thread and the loser aborts the process), serves one socket only, and knows no reload.
@safe struct HTTPDaemon: ~Copyable {
    /// Bytes for each connection: what has come, the parsed fields, the answer's header and its list of pieces. All of
    /// it is zeroed after each request (`MHD_pool_reset`), so more costs time.
    static let memoryLimit = 24 * 1024

    /// How many pieces the answer to this request may have.
    ///
    /// When their list finds no room, 0.9.75 unlocks a mutex that it does not hold, and aborts the process later. What
    /// has come, requests after this one included, takes half of the memory, as long as the header is too short for
    /// the read buffer to have grown; then the parsed fields and the list share the rest.
    static func roomForPieces(beside connection: OpaquePointer) -> Int {
        guard unsafe CLibMicroHTTPD_header_size(connection) <= HTTPLimits.maximumHeaderBytes else { return 1 }
        let fields = Int(unsafe MHD_get_connection_values(connection, .HEADER_KIND, nil, nil))
        // `struct MHD_HTTP_Header` has 56 bytes, an entry of the list 16.
        return max(1, (memoryLimit / 2 - 640 - fields * 64) / 16)
    }

    private let daemon: OpaquePointer

    /// - Parameter service: must outlive the daemon.
    init(service: HTTPService, limits: HTTPLimits, usesTLS: Bool) throws(SystemError) {
        let flags =
            MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_USE_TURBO.rawValue | MHD_USE_ITC.rawValue
            | MHD_USE_NO_LISTEN_SOCKET.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
            | (usesTLS ? MHD_USE_TLS.rawValue : 0)
        let noCertificate = unsafe unsafeBitCast(
            tlsNoCertificate as @convention(c) (OpaquePointer?) -> Int32, to: UnsafeMutableRawPointer.self)
        let connections = OpenFileLimit.raise(forConnections: limits.maximumConnections)
        let options = unsafe [
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: Self.memoryLimit, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: connections, ptr_value: nil),
            MHD_OptionItem(
                option: .PER_IP_CONNECTION_LIMIT, value: limits.maximumConnectionsPerAddress, ptr_value: nil),
            // What it would refuse then is left to `HTTPFraming` and `HTTPRequestTarget`.
            MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 0, ptr_value: nil),
            MHD_OptionItem(
                option: usesTLS ? .HTTPS_CERT_CALLBACK : .END, value: 0, ptr_value: usesTLS ? noCertificate : nil),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        let daemon = unsafe CLibMicroHTTPD_start(
            flags, httpAccess, httpCompleted, httpConnection, httpRequestLine,
            Unmanaged.passUnretained(service).toOpaque(), options)
        guard let daemon = unsafe daemon else {
            throw SystemError(.system, "libmicrohttpd did not start: \(describe(errorNumber: errno))")
        }
        unsafe self.daemon = daemon
    }

    /// To give connections to the daemon from another thread.
    var intake: Intake { unsafe Intake(daemon: daemon) }

    @safe struct Intake: @unchecked Sendable {
        // @unchecked: `MHD_add_connection` may be called from any thread. Whoever ends the daemon first ends the
        // thread that uses this.
        fileprivate let daemon: OpaquePointer

        /// Hands over a connected socket, which libmicrohttpd closes, at once if there is no room for it.
        func add(_ socket: Int32, from address: UnsafePointer<sockaddr>, length: socklen_t) {
            _ = unsafe MHD_add_connection(daemon, socket, address, length)
        }
    }

    /// Closes the connections that are left and waits for the daemon's thread: never from a callback.
    deinit {
        unsafe MHD_stop_daemon(daemon)
    }
}

/// Called by libmicrohttpd when a connection has begun and when it has ended, before it closes the socket; corresponds
/// to `MHD_NotifyConnectionCallback`.
@c(airquality_http_connection)
func httpConnection(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
    guard let service = unsafe service(context), let connection = unsafe connection,
        let socketContext = unsafe socketContext
    else { return }
    if event == .CONNECTION_NOTIFY_STARTED {
        let began = service.connectionBegan(on: unsafe CLibMicroHTTPD_socket(connection))
        if let session = unsafe CLibMicroHTTPD_tls_session(connection) {
            unsafe began.tls?.adopt(OpaquePointer(session))
        }
        unsafe socketContext.pointee = Unmanaged.passRetained(began).toOpaque()
    } else if let ended = unsafe socketContext.pointee {
        service.connectionEnded(unsafe Unmanaged<HTTPConnection>.fromOpaque(ended).takeRetainedValue())
    }
}

/// Called by libmicrohttpd with the request target as sent; corresponds to `MHD_OPTION_URI_LOG_CALLBACK`. What it
/// returns is the request's context in the callbacks that follow.
@c(airquality_http_request_line)
func httpRequestLine(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let service = unsafe service(context), let connection = unsafe connection,
        let request = unsafe HTTPConnection.of(connection)
    else { return nil }
    let count = unsafe target.map { unsafe strlen($0) } ?? 0
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: count)
    service.requestBegan(unsafe Span(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self)), on: request)
    if let query = unsafe target.flatMap({ unsafe strchr($0, Int32(UInt8(ascii: "?"))) }), unsafe query[1] != 0 {
        // It will cut the target here, and then take apart what follows, at 64 bytes for each parameter: without room
        // for all of them 0.9.75 forgets that it has refused the request, and never answers. It is our reader's part.
        unsafe query[1] = 0
    }
    if unsafe CLibMicroHTTPD_hide_content(connection) == 0 { shutdown(request.socket, Int32(SHUT_RDWR)) }
    return unsafe CLibMicroHTTPD_socket_context(connection)
}

/// Called by libmicrohttpd when the header has come and when the whole request has; corresponds to
/// `MHD_AccessHandlerCallback`.
@c(airquality_http_access)
func httpAccess(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, content: UnsafePointer<CChar>?,
    contentBytes: UnsafeMutablePointer<Int>?, request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let service = unsafe service(context), let connection = unsafe connection, let method = unsafe method,
        let version = unsafe version, let request = unsafe request?.pointee
    else { return .NO }
    // Nearly all are GET, which costs no reading.
    return unsafe service.requestArrived(
        method: strcmp(method, "GET") == 0 ? "GET" : String(cString: method),
        needsHost: strcmp(version, "HTTP/1.0") != 0,
        Unmanaged<HTTPConnection>.fromOpaque(request).takeUnretainedValue(), connection)
}

/// Called by libmicrohttpd once for each request whose first line has come, whatever became of it; corresponds to
/// `MHD_RequestCompletedCallback`.
@c(airquality_http_completed)
func httpCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let service = unsafe service(context), let request = unsafe request?.pointee else { return }
    service.requestEnded(unsafe Unmanaged<HTTPConnection>.fromOpaque(request).takeUnretainedValue())
}

private func service(_ context: UnsafeMutableRawPointer?) -> HTTPService? {
    unsafe context.map { unsafe Unmanaged<HTTPService>.fromOpaque($0).takeUnretainedValue() }
}

/// The certificate that libmicrohttpd's own credentials have: none. Each session gets others from a `TLSContext`, before
/// its handshake; corresponds to `gnutls_certificate_retrieve_function2`.
@c(airquality_tls_no_certificate)
func tlsNoCertificate(session: OpaquePointer?) -> Int32 {
    -1
}
