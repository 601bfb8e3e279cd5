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

/// Watches the handshake of one session. If it fails, it tells the client by an alert, and reports the failure.
///
/// libmicrohttpd 0.9.75 does the handshake, closes the connection without an alert when it fails, and tells nobody. So
/// this is private data of the session: GnuTLS calls its destructor, `tlsSessionEnds`, when libmicrohttpd frees the
/// session, which can still send then.
@safe final class TLSHandshake {
    private let session: gnutls_session_t
    private let connection: HTTPConnection
    private let context: TLSContext
    private let quota: HandshakeQuota
    private let onFailure: @Sendable (TLSHandshakeFailure) -> Void
    /// When the work on a message of the client began, by `threadNanoseconds`.
    private var workStart: Int64?
    /// The expensive answer is on its way. What asks for another first message is not.
    private var isAnswered = false
    private var isWaiting = false
    private var isOverQuota = false

    /// How far the handshake has come.
    private enum Progress: Comparable {
        /// Nothing has come, as from a probe of the port.
        case silent
        case begun
        /// The client's first message is here.
        case helloRead
        /// There is a protocol version that both speak.
        case versionAgreed
        /// The answer to the client's first message is on its way.
        case answered
    }

    private var progress = Progress.silent
    private var isPlainHTTP = false
    /// An alert that is not encrypted. OpenSSL's clients send such where GnuTLS expects an encrypted one, in TLS 1.3.
    private var plainAlert: gnutls_alert_description_t?
    private var isPlainAlertNext = false
    private var hasEnded = false
    private var refusal: TLSContext.ClientRefusal?

    private init(
        _ session: gnutls_session_t, _ connection: HTTPConnection, _ context: TLSContext,
        _ quota: HandshakeQuota, _ onFailure: @escaping @Sendable (TLSHandshakeFailure) -> Void
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
    static func follow(
        _ session: gnutls_session_t, of connection: HTTPConnection, as context: TLSContext,
        within quota: HandshakeQuota,
        onFailure: @escaping @Sendable (TLSHandshakeFailure) -> Void
    ) {
        let result = unsafe gnutls_session_ext_register(
            session, "followed", privateData, GNUTLS_EXT_NONE, nil, nil, tlsSessionEnds, nil, nil,
            UInt32(GNUTLS_EXT_FLAG_CLIENT_HELLO.rawValue | GNUTLS_EXT_FLAG_TLS.rawValue))
        precondition(result == 0, "gnutls_session_ext_register fails only without memory")
        let handshake = unsafe Unmanaged.passRetained(
            TLSHandshake(session, connection, context, quota, onFailure)
        ).toOpaque()
        unsafe gnutls_ext_set_data(session, UInt32(privateData), handshake)
        unsafe gnutls_transport_set_ptr2(
            session, handshake, UnsafeMutableRawPointer(bitPattern: Int(connection.socket)))
        unsafe gnutls_transport_set_pull_function(session, tlsPull)
        unsafe gnutls_handshake_set_post_client_hello_function(session, tlsVersionAgreed)
        // GNUTLS_HANDSHAKE_ANY is a macro that Swift does not see.
        unsafe gnutls_handshake_set_hook_function(
            session, UInt32.max, GNUTLS_HOOK_PRE, tlsMessage)
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
        guard isAnswered || mayGoOn() else { return -1 }
        let count = unsafe recv(connection.socket, buffer, size, 0)
        if count == 0 { hasEnded = true }
        let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: max(count, 0))
        if isPlainAlertNext, count == 2 { plainAlert = unsafe gnutls_alert_description_t(UInt32(bytes[1])) }
        // GnuTLS takes the header of a record, and then its content: here an alert of two bytes.
        isPlainAlertNext = unsafe bytes.elementsEqual([21, 3, 3, 0, 2])
        if progress == .silent, count > 0 {
            progress = .begun
            // A record begins with a number below 64.
            if unsafe (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[0]) {
                isPlainHTTP = true
                answerPlainHTTP()
                errno = ECONNRESET
                return -1
            }
        }
        return count
    }

    /// Whether what the client has sent may be read now. If not, `errno` says whether it may be later: poll reports the
    /// connection again at once, so that the first turn in which the client's quota is open goes on.
    private func mayGoOn() -> Bool {
        let client = connection.peer.client
        var byte: UInt8 = 0
        let mustWait =
            unsafe !quota.isOpen(client) && recv(connection.socket, &byte, 1, Int32(MSG_PEEK)) > 0
        if mustWait, !isWaiting {
            isWaiting = quota.wait(client)
            isOverQuota = !isWaiting
        }
        if isWaiting, !mustWait { endWait() }
        errno = isOverQuota || connection.isOverdue(at: monotonicTime()) ? ECONNRESET : EAGAIN
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
    private func answerPlainHTTP() {
        let line = "Client sent an HTTP request to an HTTPS server.\n"
        let answer = """
            HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\
            Content-Length: \(line.utf8.count)\r\n\r\n\(line)
            """
        // Closing with unread bytes sends a reset, which can make the client lose the answer.
        var request = [UInt8](repeating: 0, count: 256 * 1024)
        _ = unsafe recv(connection.socket, &request, request.count, Int32(MSG_DONTWAIT))
        _ = unsafe send(
            connection.socket, Array(answer.utf8), answer.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        _ = shutdown(connection.socket, Int32(SHUT_WR))
    }

    /// Before a message is read or sent.
    fileprivate func message(_ type: gnutls_handshake_description_t) {
        switch type {
        case GNUTLS_HANDSHAKE_CLIENT_HELLO:
            progress = max(progress, .helloRead)
            workStart = threadNanoseconds()
        case GNUTLS_HANDSHAKE_HELLO_RETRY_REQUEST: progress = .answered
        case GNUTLS_HANDSHAKE_SERVER_HELLO:
            progress = .answered
            isAnswered = true
        default: break
        }
    }

    /// GnuTLS goes on with TLS 1.2 even where only TLS 1.3 is allowed, and then finds no cipher suite.
    fileprivate func agreeOnVersion() {
        if unsafe context.allows(gnutls_protocol_get_version(session)) { progress = max(progress, .versionAgreed) }
    }

    /// Whether the client may come in with the certificates that it has sent, or without any.
    fileprivate func acceptsClient() -> Bool {
        refusal = unsafe context.refusal(of: session)
        return refusal == nil
    }

    /// The session is about to be freed; the socket is still open.
    fileprivate func end() {
        endWork()
        endWait()
        // A session whose handshake is not complete has no description.
        let description = unsafe gnutls_session_get_desc(session)
        unsafe free(description)
        guard unsafe description == nil, progress != .silent || isOverQuota else { return }
        let (reason, alert) = failure()
        if let alert { unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, alert) }
        onFailure(TLSHandshakeFailure(peer: connection.peer.description, reason: reason))
    }

    private func failure() -> (reason: String, alert: gnutls_alert_description_t?) {
        if isOverQuota { return ("too many handshakes of this client wait", nil) }
        if isPlainHTTP { return ("HTTP request on the TLS port", nil) }
        if let refusal { return (refusal.reason, refusal.alert) }
        let received = unsafe plainAlert ?? gnutls_alert_get(session)
        if received != GNUTLS_A_CLOSE_NOTIFY, let name = unsafe gnutls_alert_get_name(received) {
            return unsafe ("alert from the client: \(String(cString: name))", nil)
        }
        if connection.isOverdue(at: monotonicTime()) { return ("timed out", nil) }
        if hasEnded { return ("connection ended by the client", nil) }
        switch progress {
        case .helloRead: return ("no common TLS version", GNUTLS_A_PROTOCOL_VERSION)
        case .versionAgreed: return ("no common cipher suite, group or signature algorithm", GNUTLS_A_HANDSHAKE_FAILURE)
        case .answered: return ("bad handshake message", GNUTLS_A_DECRYPT_ERROR)
        case .begun, .silent: return ("not TLS", GNUTLS_A_UNEXPECTED_MESSAGE)
        }
    }
}

// MARK: - Called by GnuTLS

/// Corresponds to `gnutls_pull_func`.
@c(airquality_tls_pull)
private func tlsPull(handshake: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, size: Int) -> Int {
    guard let handshake = unsafe handshake, let buffer = unsafe buffer else { return -1 }
    return unsafe Unmanaged<TLSHandshake>.fromOpaque(handshake).takeUnretainedValue().pull(buffer, size)
}

/// Corresponds to `gnutls_handshake_simple_hook_func`: the client's first message has been read as far as the version.
@c(airquality_tls_version_agreed)
private func tlsVersionAgreed(session: gnutls_session_t?) -> Int32 {
    if let session = unsafe session { unsafe TLSHandshake.of(session)?.agreeOnVersion() }
    return 0
}

/// Corresponds to `gnutls_handshake_hook_func`.
@c(airquality_tls_message)
private func tlsMessage(
    session: gnutls_session_t?, type: UInt32, when: UInt32, isIncoming: UInt32, bytes: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
    if let session = unsafe session { unsafe TLSHandshake.of(session)?.message(gnutls_handshake_description_t(type)) }
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
/// What handshakes cost is measured, and a client's debt decays at a part of real time.
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

    func endWait(_ client: [UInt8]) {
        clients.withLock { $0[client]?.waiting -= 1 }
    }
}

/// What the calling thread has used of a processor (`CLOCK_THREAD_CPUTIME_ID`).
func threadNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
