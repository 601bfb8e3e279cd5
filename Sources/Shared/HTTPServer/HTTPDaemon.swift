internal import CGnuTLS
internal import CLibMicroHTTPD
internal import Glibc
internal import System

/// Owner of an `MHD_Daemon`, which serves each connection of one listening socket on its own thread.
@safe final class HTTPDaemon: @unchecked Sendable {
    // @unchecked: the functions called on the daemon here may be called from any thread.
    private let daemon: OpaquePointer
    /// The context of all callbacks.
    private let service: HTTPService

    /// Address space for each thread's stack; only pages that are touched use memory. A handshake with a client
    /// certificate, a password and each page touch at most 52 KiB in a debug build; GMP may take 64 KiB more for a key.
    private static let stackBytes = 256 * 1024

    /// - Parameter socket: already listening; remains the caller's.
    init(on socket: ListeningSocket, service: HTTPService, usesTLS: Bool) throws(SystemError) {
        let flags =
            MHD_USE_THREAD_PER_CONNECTION.rawValue | MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_USE_ITC.rawValue
            // With TURBO, a TLS connection ends without its closing alert.
            | (usesTLS ? MHD_USE_TLS.rawValue : MHD_USE_TURBO.rawValue)
        let noCertificate = unsafe unsafeBitCast(
            tlsNoCertificate as @convention(c) (OpaquePointer?) -> Int32, to: UnsafeMutableRawPointer.self)
        // Duplicated because `MHD_stop_daemon` closes it.
        let listening = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
        guard listening >= 0 else { throw SystemError(.system, describe(errorNumber: errno)) }
        let options = unsafe [
            MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(listening), ptr_value: nil),
            MHD_OptionItem(option: .THREAD_STACK_SIZE, value: Self.stackBytes, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: LibMicroHTTPD.connectionMemory, ptr_value: nil),
            // `ConnectionTable` has the limit. Debian 12: the library deadlocks when it reaches its own.
            MHD_OptionItem(option: .CONNECTION_LIMIT, value: Int(Int32.max), ptr_value: nil),
            MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: LibMicroHTTPD.strictness, ptr_value: nil),
            MHD_OptionItem(option: usesTLS ? .HTTPS_CERT_CALLBACK : .END, value: 0, ptr_value: noCertificate),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        let context = unsafe Unmanaged.passUnretained(service).toOpaque()
        var error: Int32 = 0
        let daemon = unsafe options.withUnsafeBufferPointer { options in
            let daemon = unsafe CLibMicroHTTPD_start(
                flags, httpAccept, httpAccess, httpCompleted, httpConnection, httpRequestLine, context,
                options.baseAddress)
            // Before the options are freed, which may change it.
            error = errno
            return unsafe daemon
        }
        guard let daemon = unsafe daemon else {
            throw SystemError(.system, "libmicrohttpd did not start: \(describe(errorNumber: error))")
        }
        unsafe self.daemon = daemon
        self.service = service
    }

    /// Accepts no more connections; existing ones continue. Corresponds to `MHD_quiesce_daemon`.
    func stopListening() {
        let listening = unsafe MHD_quiesce_daemon(daemon)
        if listening >= 0 { close(listening) }
    }

    /// Keeps the daemon running until the process ends.
    func leaveBehind() { _ = unsafe Unmanaged.passRetained(self) }

    /// Closes the remaining connections and waits for all threads, so it must not run in a callback.
    deinit { unsafe MHD_stop_daemon(daemon) }
}

// MARK: - Called by libmicrohttpd

/// Called for each accepted connection; `.NO` closes it. Corresponds to `MHD_AcceptPolicyCallback`.
@c(airquality_http_accept)
private func httpAccept(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
    guard let address = unsafe SocketAddress(address, length) else { return .NO }
    return unsafe service(context).connections.admits(address.ip.client) ? .YES : .NO
}

/// Called when a connection begins, and before its socket is closed; corresponds to `MHD_NotifyConnectionCallback`.
@c(airquality_http_connection)
private func httpConnection(
    context: UnsafeMutableRawPointer?, pointer: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
    if event == .CONNECTION_NOTIFY_STARTED {
        let connection = unsafe service(context).connectionBegan(pointer!)
        unsafe socketContext!.pointee = Unmanaged.passRetained(connection).toOpaque()
    } else {
        let connection = unsafe Unmanaged<HTTPConnection>.fromOpaque(socketContext!.pointee!).takeRetainedValue()
        unsafe service(context).connectionEnded(connection)
    }
}

/// Called with the request target as sent; corresponds to `MHD_OPTION_URI_LOG_CALLBACK`.
@c(airquality_http_request_line)
private func httpRequestLine(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, pointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    unsafe service(context).requestBegan(LibMicroHTTPD.takeTarget(target!), on: connection(pointer))
    return nil
}

/// Called after the header, and again after the whole request; corresponds to `MHD_AccessHandlerCallback`.
@c(airquality_http_access)
private func httpAccess(
    context: UnsafeMutableRawPointer?, pointer: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, content: UnsafePointer<CChar>?,
    contentBytes: UnsafeMutablePointer<Int>?, request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    let header = unsafe MHDHeader(method: method!, url: url!, version: version!)
    return unsafe service(context).requestArrived(header, on: connection(pointer))
}

/// Called once for each request whose first line has arrived; corresponds to `MHD_RequestCompletedCallback`.
@c(airquality_http_completed)
private func httpCompleted(
    context: UnsafeMutableRawPointer?, pointer: OpaquePointer?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    unsafe service(context).requestEnded(on: connection(pointer))
}

private func service(_ context: UnsafeMutableRawPointer?) -> HTTPService {
    unsafe Unmanaged<HTTPService>.fromOpaque(context!).takeUnretainedValue()
}

/// The object that `httpConnection` made.
private func connection(_ pointer: OpaquePointer?) -> HTTPConnection {
    let context = unsafe CLibMicroHTTPD_info(pointer!, .CONNECTION_INFO_SOCKET_CONTEXT).socket_context!
    return unsafe Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue()
}

/// Sets no certificate: `TLSContext` does for each session. Corresponds to `gnutls_certificate_retrieve_function2`.
@c(airquality_tls_no_certificate)
private func tlsNoCertificate(session: OpaquePointer?) -> Int32 { -1 }
