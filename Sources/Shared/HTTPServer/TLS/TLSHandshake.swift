internal import CGnuTLS
internal import Glibc
internal import System

/// Watches the handshake of a session, which libmicrohttpd creates and performs, and records why it fails. Uses the
/// configuration in force when the connection began: a reload affects new connections only.
///
/// Used by the connection's thread, then by the thread that handles the connection's end.
@safe final class TLSHandshake: @unchecked Sendable {
    // @unchecked: used by one thread at a time, as above. The session points to this object, and ends before it.
    private let socket: Int32
    private let client: [UInt8]
    /// Kept because the session points into its context.
    private let configuration: TLSConfiguration
    private let computing: Monitor<Set<[UInt8]>>
    private var isComplete = false
    private var isComputing = false
    /// Reason if the handshake fails now; `nil` before the client has sent something.
    private var failure: String?
    private static let unexplained = "handshake failed"

    /// Starts watching a session before its handshake, and sets the certificate and requirements of the server.
    ///
    /// - Parameter computing: clients whose handshake is computing, one per client at a time: a signature with a
    ///   large key takes milliseconds, and the kernel divides the processor between threads, not between clients.
    init(
        _ session: gnutls_session_t, on socket: Int32, of client: [UInt8], as configuration: TLSConfiguration,
        computing: Monitor<Set<[UInt8]>>
    ) {
        self.socket = socket
        self.client = client
        self.configuration = configuration
        self.computing = computing
        unsafe configuration.context.adopt(session)
        unsafe gnutls_handshake_set_max_packet_length(session, HTTPLimits.handshakeMessageBytes)
        unsafe gnutls_transport_set_ptr2(
            session, Unmanaged.passUnretained(self).toOpaque(), UnsafeMutableRawPointer(bitPattern: Int(socket)))
        unsafe gnutls_transport_set_pull_function(session, tlsPull)
        unsafe gnutls_handshake_set_hook_function(
            session, UInt32(GNUTLS_HANDSHAKE_FINISHED.rawValue), GNUTLS_HOOK_POST, tlsFinished)
        guard configuration.clientAuthentication != .none else { return }
        // `rejection` decides whether a certificate is required.
        unsafe gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST)
        unsafe gnutls_session_set_verify_function(session, tlsVerify)
    }

    fileprivate static func of(_ session: gnutls_session_t?) -> TLSHandshake? {
        guard let session = unsafe session else { return nil }
        var receiving: gnutls_transport_ptr_t?
        var sending: gnutls_transport_ptr_t?
        unsafe gnutls_transport_get_ptr2(session, &receiving, &sending)
        return unsafe receiving.map { unsafe Unmanaged<TLSHandshake>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Must be called at the end of the connection.
    ///
    /// - Returns: why the handshake failed; `nil` if it did not, or if the client sent nothing, like a port scanner.
    func end(isOverdue: Bool) -> String? {
        stopComputing()
        if isComplete { return nil }
        return isOverdue && failure == Self.unexplained ? "timed out" : failure
    }

    // MARK: - Called by GnuTLS

    /// Receives at most `size` bytes. Corresponds to `recv`.
    fileprivate func pull(_ buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
        stopComputing()
        let count = unsafe recv(socket, buffer, size, 0)
        if isComplete { return count }
        if count == 0, failure == Self.unexplained { failure = "connection ended by the client" }
        guard count > 0 else { return count }
        // A TLS record begins with a byte below 64.
        if failure == nil, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(unsafe buffer.load(as: UInt8.self)) {
            failure = "HTTP request on the TLS port"
            respondToPlainHTTP()
            errno = ECONNRESET
            return -1
        }
        if failure == nil { failure = Self.unexplained }
        // The reply to a message may need a signature; a record header, which has five bytes, needs none.
        if size > 5 { isComputing = computing.wait { $0.insert(client).inserted ? true : nil } ?? false }
        return count
    }

    private func stopComputing() {
        guard isComputing else { return }
        isComputing = false
        computing.change { _ = $0.remove(client) }
    }

    /// Responds with Go's text, as other exporters do.
    private func respondToPlainHTTP() {
        let line = "Client sent an HTTP request to an HTTPS server.\n"
        let response = """
            HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\
            Content-Length: \(line.utf8.count)\r\n\r\n\(line)
            """
        // Closing with unread bytes sends a reset, which can make the client lose the response.
        var request = [UInt8](repeating: 0, count: 256 * 1024)
        _ = unsafe recv(socket, &request, request.count, Int32(MSG_DONTWAIT))
        _ = unsafe send(socket, Array(response.utf8), response.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        _ = shutdown(socket, Int32(SHUT_WR))
    }

    /// Called after the client's last message.
    fileprivate func complete() {
        isComplete = true
        stopComputing()
    }

    /// Whether the client is accepted with the certificates that it sent, if any.
    fileprivate func acceptsClient(of session: gnutls_session_t) -> Bool {
        guard let rejection = unsafe configuration.rejection(of: session) else { return true }
        failure = rejection
        return false
    }
}

/// Corresponds to `gnutls_pull_func`.
@c(airquality_tls_pull)
private func tlsPull(handshake: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, size: Int) -> Int {
    unsafe Unmanaged<TLSHandshake>.fromOpaque(handshake!).takeUnretainedValue().pull(buffer!, size)
}

/// Called when one side has finished the handshake; corresponds to `gnutls_handshake_hook_func`.
@c(airquality_tls_finished)
private func tlsFinished(
    session: gnutls_session_t?, type: UInt32, when: UInt32, isIncoming: UInt32, bytes: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
    if isIncoming != 0 { unsafe TLSHandshake.of(session)?.complete() }
    return 0
}

/// Called when the client has sent its certificates, or none; a result other than 0 ends the handshake. Corresponds
/// to `gnutls_certificate_verify_function`.
@c(airquality_tls_verify)
private func tlsVerify(session: gnutls_session_t?) -> Int32 {
    guard let session = unsafe session, unsafe TLSHandshake.of(session)?.acceptsClient(of: session) == true else {
        return GNUTLS_E_CERTIFICATE_ERROR
    }
    return 0
}
