internal import Bytes
internal import CGnuTLS
internal import CLibMicroHTTPD
internal import Glibc
internal import System

/// The owner of an `MHD_Daemon`: one thread in `poll` that serves the connections given to it. It never listens.
@safe struct HTTPDaemon: ~Copyable, @unchecked Sendable {
    // @unchecked: what is called of it here may be called from any thread.
    private let daemon: OpaquePointer

    /// - Parameter service: must outlive the daemon.
    init(service: HTTPService, usesTLS: Bool) throws(SystemError) {
        let flags =
            MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_USE_TURBO.rawValue | MHD_USE_ITC.rawValue
            | MHD_USE_NO_LISTEN_SOCKET.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
            | (usesTLS ? MHD_USE_TLS.rawValue : 0)
        let noCertificate = unsafe unsafeBitCast(
            tlsNoCertificate as @convention(c) (OpaquePointer?) -> Int32, to: UnsafeMutableRawPointer.self)
        let options = unsafe [
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: connectionMemory, ptr_value: nil),
            // `HTTPConnections` has the limit; the library must never meet its own. Debian 12: then it locks up.
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: Int(Int32.max), ptr_value: nil),
            MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: strictness, ptr_value: nil),
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
        // @unchecked: `MHD_add_connection` may be called from any thread. What ends the daemon first ends the
        // thread that uses this.
        fileprivate let daemon: OpaquePointer

        /// Hands over a connected socket, which libmicrohttpd closes. False when it has done so at once, and will say
        /// nothing more of it.
        func add(_ socket: Int32, from address: SocketAddress) -> Bool {
            unsafe address.withPointer { unsafe MHD_add_connection(daemon, socket, $0, $1) } == .YES
        }
    }

    /// Closes the connections that are left and waits for the daemon's thread: never from a callback.
    deinit { unsafe MHD_stop_daemon(daemon) }
}

/// Called by libmicrohttpd when a connection has begun and when it has ended, before it closes the socket; corresponds
/// to `MHD_NotifyConnectionCallback`.
@c(airquality_http_connection)
func httpConnection(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
    guard let service = unsafe service(context), let connection = unsafe MHDConnection(connection),
        let socketContext = unsafe socketContext
    else { return }
    if event == .CONNECTION_NOTIFY_STARTED {
        unsafe socketContext.pointee = service.connectionBegan(connection).map {
            unsafe Unmanaged.passRetained($0).toOpaque()
        }
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
    guard let service = unsafe service(context), let target = unsafe MHDRequestTarget(target),
        let connection = unsafe MHDConnection(connection)?.state
    else { return nil }
    service.requestBegan(target, on: connection)
    return unsafe Unmanaged.passUnretained(connection).toOpaque()
}

/// Called by libmicrohttpd when the header has come and when the whole request has; corresponds to
/// `MHD_AccessHandlerCallback`.
@c(airquality_http_access)
func httpAccess(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, content: UnsafePointer<CChar>?,
    contentBytes: UnsafeMutablePointer<Int>?, request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let service = unsafe service(context),
        let line = unsafe MHDRequestLine(method: method, url: url, version: version),
        let request = unsafe request?.pointee
    else { return .NO }
    return service.requestArrived(
        line, on: unsafe Unmanaged<HTTPConnection>.fromOpaque(request).takeUnretainedValue())
}

/// Called by libmicrohttpd once for each request whose first line has come, whatever became of it; corresponds to
/// `MHD_RequestCompletedCallback`.
@c(airquality_http_completed)
func httpCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let service = unsafe service(context), let request = unsafe request?.pointee else { return }
    service.requestEnded(on: unsafe Unmanaged<HTTPConnection>.fromOpaque(request).takeUnretainedValue())
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

/// A connection as libmicrohttpd lends it to its callbacks: valid from the notice of its beginning to that of its end,
/// on the daemon's thread.
@safe struct MHDConnection: @unchecked Sendable {
    // @unchecked: `resume` alone is called on other threads, as libmicrohttpd allows, and a suspended connection lives
    // until then: the daemon is not stopped before `HTTPConnections` has had all of them resumed.
    private let handle: OpaquePointer

    init?(_ handle: OpaquePointer?) {
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    // MARK: - The connection

    var socket: Int32 { unsafe CLibMicroHTTPD_socket(handle) }

    /// Nil: plain HTTP.
    var tlsSession: gnutls_session_t? { unsafe CLibMicroHTTPD_tls_session(handle).map { OpaquePointer($0) } }

    /// This server's object for it, kept by `httpConnection`.
    var state: HTTPConnection? {
        unsafe CLibMicroHTTPD_socket_context(handle).map {
            unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Corresponds to `MHD_suspend_connection`: nothing is read or sent until `resume`, and then the access handler, or
    /// the reader of a stream, is called again.
    func suspend() { unsafe MHD_suspend_connection(handle) }

    /// Any thread. Corresponds to `MHD_resume_connection`.
    func resume() { unsafe MHD_resume_connection(handle) }

    // MARK: - The request

    /// Bytes of request line and fields, as soon as all of them have come.
    var headerBytes: Int { unsafe CLibMicroHTTPD_header_size(handle) }

    /// The number of fields of the header, with those that `hideContent` has put there.
    var fieldCount: Int { Int(unsafe MHD_get_connection_values(handle, .HEADER_KIND, nil, nil)) }

    /// Calls the body for each field that the client has sent, in their order, until it returns false. Corresponds to
    /// `MHD_get_connection_values_n`. The body does not outlive the call; it is `@escaping` because
    /// `withoutActuallyEscaping` would put the length of this file's whole path into the program
    /// (`Tests/Gates/reproducible`).
    func forEachField(_ body: @escaping (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool) {
        var visit = unsafe FieldVisit(body: body)
        unsafe withUnsafeMutablePointer(to: &visit) {
            _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, httpField, $0)
        }
    }

    /// See `hideContent`.
    func setHiddenFields() -> Bool { unsafe CLibMicroHTTPD_hide_content(handle, isVersion0 ? 1 : 0) != 0 }

    /// Corresponds to `MHD_queue_response`.
    func queue(_ response: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(handle, UInt32(status), response)
    }
}

@unsafe private struct FieldVisit {
    let body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    var hiddenFields = MHDConnection.hiddenFieldCount
}

/// Called by libmicrohttpd for each field; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field)
private func httpField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let visit = unsafe context?.assumingMemoryBound(to: FieldVisit.self) else { return .NO }
    guard unsafe visit.pointee.hiddenFields == 0 else {
        unsafe visit.pointee.hiddenFields -= 1
        return .YES
    }
    let name = unsafe UnsafeRawBufferPointer(start: name, count: nameLength)
    let value = unsafe UnsafeRawBufferPointer(start: value, count: valueLength)
    return unsafe visit.pointee.body(name, value) ? .YES : .NO
}
