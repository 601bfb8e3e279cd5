internal import CGnuTLS
internal import Glibc
internal import System

/// A TLS handshake that did not come to its end.
public struct TLSHandshakeFailure: Sendable, Equatable {
    /// The client's address.
    public var peer: String
    /// Why, in one line.
    public var reason: String
}

/// Watches the handshake of one session, which libmicrohttpd does, and knows why it failed.
///
/// Used by the connection's thread, and then by the one that notices the connection's end.
@safe final class TLSHandshake: @unchecked Sendable {
    // @unchecked: its users come one after the other, as above. The session points to it, and ends before it.
    private let socket: Int32
    /// The context that the session points into.
    private let context: TLSContext
    private var hasBegun = false
    private var isComplete = false
    private var isEndedByClient = false
    /// Why it fails, where that is known before its end.
    private var refusal: String?

    /// Bytes of one handshake message. A chain of client certificates is the longest that there is.
    private static let maximumMessageBytes = 32 * 1024

    /// Begins to watch the session before its handshake, and gives it the certificate and the demands of the context.
    init(_ session: gnutls_session_t, on socket: Int32, as context: TLSContext) {
        self.socket = socket
        self.context = context
        unsafe context.adopt(session)
        unsafe gnutls_handshake_set_max_packet_length(session, Self.maximumMessageBytes)
        unsafe gnutls_transport_set_ptr2(
            session, Unmanaged.passUnretained(self).toOpaque(), UnsafeMutableRawPointer(bitPattern: Int(socket)))
        unsafe gnutls_transport_set_pull_function(session, tlsPull)
        unsafe gnutls_handshake_set_hook_function(
            session, UInt32(GNUTLS_HANDSHAKE_FINISHED.rawValue), GNUTLS_HOOK_POST, tlsFinished)
        if context.asksClients { unsafe gnutls_session_set_verify_function(session, tlsVerify) }
    }

    /// The one that watches a session.
    fileprivate static func of(_ session: gnutls_session_t) -> TLSHandshake? {
        var receiving: gnutls_transport_ptr_t?
        var sending: gnutls_transport_ptr_t?
        unsafe gnutls_transport_get_ptr2(session, &receiving, &sending)
        return unsafe receiving.map { unsafe Unmanaged<TLSHandshake>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Why it failed; `nil` when it did not, or when the client has said nothing, as one that looks whether a port is
    /// open.
    ///
    /// - Parameter isOverdue: whether the connection was shut down because it took too long.
    func failure(isOverdue: Bool) -> String? {
        guard !isComplete, hasBegun else { return nil }
        if let refusal { return refusal }
        if isOverdue { return "timed out" }
        return isEndedByClient ? "connection ended by the client" : "handshake failed"
    }

    // MARK: - Called by GnuTLS

    /// Corresponds to `recv`, of at most so many bytes.
    fileprivate func pull(_ buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
        let count = unsafe recv(socket, buffer, size, 0)
        if isComplete { return count }
        if count == 0 { isEndedByClient = true }
        guard count > 0, !hasBegun else { return count }
        hasBegun = true
        // A record begins with a number below 64.
        guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(unsafe buffer.load(as: UInt8.self)) else { return count }
        refusal = "HTTP request on the TLS port"
        respondToPlainHTTP()
        errno = ECONNRESET
        return -1
    }

    /// Responds in Go's words, as other exporters do.
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

    fileprivate func finished(isIncoming: Bool) {
        if isIncoming { isComplete = true }
    }

    /// Whether the client may come in with the certificates that it has sent, or without any.
    fileprivate func acceptsClient(of session: gnutls_session_t) -> Bool {
        refusal = unsafe context.refusal(of: session)
        return refusal == nil
    }
}

/// Corresponds to `gnutls_pull_func`.
@c(airquality_tls_pull)
private func tlsPull(handshake: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, size: Int) -> Int {
    guard let handshake = unsafe handshake, let buffer = unsafe buffer else { return -1 }
    return unsafe Unmanaged<TLSHandshake>.fromOpaque(handshake).takeUnretainedValue().pull(buffer, size)
}

/// Called when a message has been read or sent that ends the handshake of one side; corresponds to
/// `gnutls_handshake_hook_func`.
@c(airquality_tls_finished)
private func tlsFinished(
    session: gnutls_session_t?, type: UInt32, when: UInt32, isIncoming: UInt32, bytes: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
    if let session = unsafe session { unsafe TLSHandshake.of(session)?.finished(isIncoming: isIncoming != 0) }
    return 0
}

/// Called when a client's certificates have come, or none; anything but 0 ends the handshake. Corresponds to
/// `gnutls_certificate_verify_function`.
@c(airquality_tls_verify)
private func tlsVerify(session: gnutls_session_t?) -> Int32 {
    guard let session = unsafe session, let handshake = unsafe TLSHandshake.of(session),
        unsafe handshake.acceptsClient(of: session)
    else { return GNUTLS_E_CERTIFICATE_ERROR }
    return 0
}
