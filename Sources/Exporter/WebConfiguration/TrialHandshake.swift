internal import CGnuTLS
internal import Glibc
internal import System

/// A handshake between a server and a client in this process: whether clients will be able to connect is asked before
/// one of them is turned away.
enum TrialHandshake {
    /// - Parameters:
    ///   - certificate: PEM, with its key.
    ///   - priority: the server's, which must have a protocol version.
    /// - Throws: the server's error, or the client's if the server reports none.
    static func run(certificate: [UInt8], key: [UInt8], priority: String) throws(SystemError) {
        let toServer = Wire()
        let toClient = Wire()
        let server = try TrialSession(GNUTLS_SERVER, priority: priority, from: toServer, to: toClient)
        try server.credentials.load(certificate: certificate, key: key)
        // A client that takes every kind of certificate, and judges none.
        let client = try TrialSession(
            GNUTLS_CLIENT, priority: "NORMAL:+VERS-TLS-ALL:%COMPAT", from: toClient, to: toServer)
        var isServerReady = false
        var isClientReady = false
        while !(isServerReady && isClientReady) {
            let sent = toServer.total + toClient.total
            if !isClientReady { isClientReady = try client.advance() }
            if !isServerReady { isServerReady = try server.advance() }
            if !(isServerReady && isClientReady), toServer.total + toClient.total == sent {
                throw SystemError(.tls, "the handshake does not complete")
            }
        }
    }
}

/// Bytes on their way from one session to the other.
private final class Wire {
    var bytes: [UInt8] = []
    /// Of all that were sent.
    var total = 0
}

/// Owns a `gnutls_session_t` and its credentials.
@safe private struct TrialSession: ~Copyable {
    let credentials: CertificateCredentials
    private let session: gnutls_session_t
    // The session points to them.
    private let source: Wire
    private let sink: Wire

    init(
        _ role: gnutls_init_flags_t, priority: String, from source: Wire, to sink: Wire
    ) throws(SystemError) {
        let credentials = try CertificateCredentials()
        unsafe session = try Self.session(role, priority: priority)
        self.credentials = credentials
        self.source = source
        self.sink = sink
        unsafe self.credentials.adopt(session)
        unsafe gnutls_transport_set_ptr2(
            session, Unmanaged.passUnretained(source).toOpaque(), Unmanaged.passUnretained(sink).toOpaque())
        unsafe gnutls_transport_set_pull_function(session, trialPull)
        unsafe gnutls_transport_set_push_function(session, trialPush)
    }

    private static func session(_ role: gnutls_init_flags_t, priority: String) throws(SystemError) -> gnutls_session_t {
        var session: gnutls_session_t?
        try unsafe checkGnuTLS(gnutls_init(&session, role.rawValue | GNUTLS_NONBLOCK.rawValue))
        do throws(SystemError) {
            try unsafe checkGnuTLS(gnutls_priority_set_direct(session, priority, nil))
        } catch {
            unsafe gnutls_deinit(session)
            throw error
        }
        return unsafe session!
    }

    deinit {
        unsafe gnutls_deinit(session)
    }

    /// True when the handshake is complete. Corresponds to `gnutls_handshake`.
    borrowing func advance() throws(SystemError) -> Bool {
        while true {
            let result = unsafe gnutls_handshake(session)
            if result == 0 { return true }
            if result == GNUTLS_E_AGAIN { return false }
            if gnutls_error_is_fatal(result) != 0 { throw SystemError(.tls, describe(gnuTLS: result)) }
        }
    }
}

/// Called by GnuTLS for bytes of the other side; corresponds to `gnutls_pull_func`.
@c(airquality_tls_trial_pull)
private func trialPull(
    wire: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, size: Int
) -> Int {
    guard let wire = unsafe wire, let buffer = unsafe buffer else { return -1 }
    let source = unsafe Unmanaged<Wire>.fromOpaque(wire).takeUnretainedValue()
    guard !source.bytes.isEmpty else {
        errno = EAGAIN
        return -1
    }
    let taken = source.bytes.prefix(size)
    unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size).copyBytes(from: taken)
    source.bytes.removeFirst(taken.count)
    return taken.count
}

/// Called by GnuTLS with bytes for the other side; corresponds to `gnutls_push_func`.
@c(airquality_tls_trial_push)
private func trialPush(
    wire: UnsafeMutableRawPointer?, buffer: UnsafeRawPointer?, size: Int
) -> Int {
    guard let wire = unsafe wire, let buffer = unsafe buffer else { return -1 }
    let sink = unsafe Unmanaged<Wire>.fromOpaque(wire).takeUnretainedValue()
    unsafe sink.bytes.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: size))
    sink.total += size
    return size
}
