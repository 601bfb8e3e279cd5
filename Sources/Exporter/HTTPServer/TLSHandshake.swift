internal import CGnuTLS
internal import Glibc
internal import Synchronization
internal import System

/// A TLS handshake that did not come to its end.
public struct TLSHandshakeFailure: Sendable, Equatable {
    /// The client's address.
    public var peer: String
    /// Why, in one line.
    public var reason: String
}

/// Watches the handshake of one session: reports its failure, and limits what it costs.
///
/// libmicrohttpd does the handshake, and tells nobody when it fails. So this is private data of the session: GnuTLS calls
/// its destructor, `tlsSessionEnds`, when libmicrohttpd frees the session.
@safe final class TLSHandshake {
    private let session: gnutls_session_t
    private let connection: HTTPConnection
    private let context: TLSContext
    private let quota: HandshakeQuota
    private let onFailure: @Sendable (TLSHandshakeFailure) -> Void
    /// When the work on what the client has sent began, by `threadNanoseconds`.
    private var workStart: Int64?
    /// The last message is here that costs anything.
    private var isComplete = false
    private var isWaiting = false
    private var hasBegun = false
    private var hasEnded = false
    /// The reason why it fails, where that is known before it has ended.
    private var failure: String?
    private var isRefused = false

    init(
        _ session: gnutls_session_t, of connection: HTTPConnection, as context: TLSContext,
        within quota: HandshakeQuota, onFailure: @escaping @Sendable (TLSHandshakeFailure) -> Void
    ) {
        unsafe self.session = session
        self.connection = connection
        self.context = context
        self.quota = quota
        self.onFailure = onFailure
    }

    /// The number of no registered extension (RFC 8446, section 11).
    private static let privateData: Int32 = 0xFF5A

    /// Watches the session until it is freed.
    func follow() {
        let result = unsafe gnutls_session_ext_register(
            session, "followed", Self.privateData, GNUTLS_EXT_NONE, nil, nil, tlsSessionEnds, nil, nil,
            UInt32(GNUTLS_EXT_FLAG_CLIENT_HELLO.rawValue | GNUTLS_EXT_FLAG_TLS.rawValue))
        precondition(result == 0, "gnutls_session_ext_register fails only without memory")
        let handshake = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe gnutls_ext_set_data(session, UInt32(Self.privateData), handshake)
        unsafe gnutls_transport_set_ptr2(
            session, handshake, UnsafeMutableRawPointer(bitPattern: Int(connection.socket)))
        unsafe gnutls_transport_set_pull_function(session, tlsPull)
        unsafe gnutls_handshake_set_hook_function(
            session, UInt32(GNUTLS_HANDSHAKE_FINISHED.rawValue), GNUTLS_HOOK_PRE, tlsFinished)
        if context.asksClients { unsafe gnutls_session_set_verify_function(session, tlsVerify) }
    }

    /// Corresponds to `gnutls_ext_get_data`.
    fileprivate static func of(_ session: gnutls_session_t) -> TLSHandshake? {
        var data: gnutls_ext_priv_data_t?
        guard unsafe gnutls_ext_get_data(session, UInt32(privateData), &data) == 0, let data = unsafe data else {
            return nil
        }
        return unsafe Unmanaged<TLSHandshake>.fromOpaque(data).takeUnretainedValue()
    }

    // MARK: - What happens

    /// Corresponds to `recv`, of at most so many bytes.
    fileprivate func pull(_ buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
        endWork()
        guard isComplete || mayGoOn() else { return -1 }
        let count = unsafe recv(connection.socket, buffer, size, 0)
        if count == 0 { hasEnded = true }
        guard count > 0, !isComplete else { return count }
        workStart = threadNanoseconds()
        defer { hasBegun = true }
        // A record begins with a number below 64.
        if !hasBegun, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(unsafe buffer.load(as: UInt8.self)) {
            failure = "HTTP request on the TLS port"
            respondToPlainHTTP()
            errno = ECONNRESET
            return -1
        }
        return count
    }

    /// Whether what the client has sent may be read now. If not, `errno` says whether it may be later: poll reports the
    /// connection again at once, so that the first turn in which the client's quota is open goes on.
    private func mayGoOn() -> Bool {
        let client = connection.peer.client
        var byte: UInt8 = 0
        let mustWait = unsafe !quota.isOpen(client) && recv(connection.socket, &byte, 1, Int32(MSG_PEEK)) > 0
        if mustWait, !isWaiting {
            isWaiting = quota.wait(client)
            if !isWaiting { failure = "too many handshakes of this client wait" }
        }
        if isWaiting, !mustWait { endWait() }
        errno = failure != nil || connection.isOverdue(at: monotonicTime()) ? ECONNRESET : EAGAIN
        return !mustWait
    }

    private func endWait() {
        if isWaiting { quota.endWait(connection.peer.client) }
        isWaiting = false
    }

    private func endWork() {
        guard let start = workStart else { return }
        workStart = nil
        quota.charge(connection.peer.client, nanoseconds: threadNanoseconds() - start)
    }

    /// In Go's words, as other exporters.
    private func respondToPlainHTTP() {
        let line = "Client sent an HTTP request to an HTTPS server.\n"
        let response = """
            HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\
            Content-Length: \(line.utf8.count)\r\n\r\n\(line)
            """
        // Closing with unread bytes sends a reset, which can make the client lose the response.
        var request = [UInt8](repeating: 0, count: 256 * 1024)
        _ = unsafe recv(connection.socket, &request, request.count, Int32(MSG_DONTWAIT))
        _ = unsafe send(
            connection.socket, Array(response.utf8), response.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        _ = shutdown(connection.socket, Int32(SHUT_WR))
    }

    /// Before the message is read or sent that ends the handshake of one side.
    fileprivate func finished(isIncoming: Bool) {
        guard isIncoming else { return }
        endWork()
        isComplete = true
    }

    /// Whether the client may come in with the certificates that it has sent, or without any.
    fileprivate func acceptsClient() -> Bool {
        failure = unsafe context.refusal(of: session)
        isRefused = failure != nil
        return !isRefused
    }

    /// The session is about to be freed; the socket is still open.
    fileprivate func end() {
        endWork()
        endWait()
        // A session whose handshake is not complete has no description.
        let description = unsafe gnutls_session_get_desc(session)
        unsafe free(description)
        guard unsafe description == nil, hasBegun || failure != nil else { return }
        let reason = failure ?? endByClient
        // libmicrohttpd would close without a word. What exactly was wrong, GnuTLS has told it alone.
        if isRefused || reason == nil {
            let alert = isRefused ? GNUTLS_A_BAD_CERTIFICATE : GNUTLS_A_HANDSHAKE_FAILURE
            unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, alert)
        }
        onFailure(TLSHandshakeFailure(peer: connection.peer.description, reason: reason ?? "handshake failed"))
    }

    private var endByClient: String? {
        let received = unsafe gnutls_alert_get(session)
        if received != GNUTLS_A_CLOSE_NOTIFY, let name = unsafe gnutls_alert_get_name(received) {
            return unsafe "alert from the client: \(String(cString: name))"
        }
        if connection.isOverdue(at: monotonicTime()) { return "timed out" }
        return hasEnded ? "connection ended by the client" : nil
    }
}

// MARK: - Called by GnuTLS

/// Corresponds to `gnutls_pull_func`.
@c(airquality_tls_pull)
private func tlsPull(handshake: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, size: Int) -> Int {
    guard let handshake = unsafe handshake, let buffer = unsafe buffer else { return -1 }
    return unsafe Unmanaged<TLSHandshake>.fromOpaque(handshake).takeUnretainedValue().pull(buffer, size)
}

/// Corresponds to `gnutls_handshake_hook_func`.
@c(airquality_tls_finished)
private func tlsFinished(
    session: gnutls_session_t?, type: UInt32, when: UInt32, isIncoming: UInt32, bytes: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
    if let session = unsafe session { unsafe TLSHandshake.of(session)?.finished(isIncoming: isIncoming != 0) }
    return 0
}

/// Corresponds to `gnutls_certificate_verify_function`: a client's certificates have come, or none; anything but 0 ends
/// the handshake.
@c(airquality_tls_verify)
private func tlsVerify(session: gnutls_session_t?) -> Int32 {
    guard let session = unsafe session, unsafe TLSHandshake.of(session)?.acceptsClient() == true else {
        return GNUTLS_E_CERTIFICATE_ERROR
    }
    return 0
}

/// Corresponds to `gnutls_ext_deinit_data_func`.
@c(airquality_tls_session_ends)
private func tlsSessionEnds(handshake: UnsafeMutableRawPointer?) {
    guard let handshake = unsafe handshake else { return }
    unsafe Unmanaged<TLSHandshake>.fromOpaque(handshake).takeRetainedValue().end()
}

// MARK: - Quota

/// Limits how much of the serving thread's time the TLS handshakes of one client take: a signature with RSA takes as long
/// as many scrapes. Beyond it handshakes wait, and beyond a number of those they fail.
///
/// The cost of handshakes is measured, and a client's debt decays at a part of real time.
final class HandshakeQuota: Sendable {
    private let clients = Mutex<[[UInt8]: Client]>([:])

    private struct Client {
        /// When its debt is paid; nanoseconds of the monotonic clock.
        var debtEnd: Int64 = 0
        var waiting = 0
    }

    /// A client has the serving thread for one in so many nanoseconds.
    static let share: Int64 = 4
    /// Nanoseconds of work that may be owed when the next handshake goes on.
    static let burst: Int64 = 20_000_000
    /// Each takes a little of each turn of the serving thread.
    static let maximumWaiting = 256

    /// Clients that are remembered.
    var count: Int { clients.withLock { $0.count } }

    /// Whether a handshake may go on now.
    func isOpen(_ client: [UInt8], now: Int64 = monotonicNanoseconds()) -> Bool {
        clients.withLock { ($0[client]?.debtEnd ?? 0) - now <= Self.burst * Self.share }
    }

    /// Counts the time that a handshake has taken.
    func charge(_ client: [UInt8], nanoseconds: Int64, now: Int64 = monotonicNanoseconds()) {
        clients.withLock { clients in
            if clients.count > 1024 { clients = clients.filter { $0.value.debtEnd > now || $0.value.waiting > 0 } }
            let start = max(clients[client]?.debtEnd ?? 0, now)
            clients[client, default: Client()].debtEnd = start + nanoseconds * Self.share
        }
    }

    /// Counts one more that waits; false when there are too many.
    func wait(_ client: [UInt8]) -> Bool {
        clients.withLock { clients in
            guard clients[client, default: Client()].waiting < Self.maximumWaiting else { return false }
            clients[client, default: Client()].waiting += 1
            return true
        }
    }

    func endWait(_ client: [UInt8]) { clients.withLock { $0[client]?.waiting -= 1 } }
}

/// The processor time of the calling thread (`CLOCK_THREAD_CPUTIME_ID`).
func threadNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
