internal import CGnuTLS
internal import Glibc
package import System

/// The owner of a `gnutls_session_t`. The caller owns the socket, which must outlive the session.
@safe package struct TLSSession: ~Copyable {
    private let session: gnutls_session_t
    // The session points into it.
    private let context: TLSContext

    /// - Parameter role: `GNUTLS_SERVER` or `GNUTLS_CLIENT`.
    init(
        _ role: gnutls_init_flags_t, as context: TLSContext, over socket: borrowing FileDescriptor
    ) throws(SystemError) {
        var session: gnutls_session_t?
        try unsafe checkGnuTLS(gnutls_init(&session, role.rawValue | GNUTLS_NO_SIGNAL.rawValue))
        unsafe self.session = session!
        self.context = context
        unsafe context.adopt(self.session)
        unsafe gnutls_transport_set_int2(self.session, socket.number, socket.number)
    }

    /// Returns a client that accepts any certificate without verifying it and lets the server choose the version.
    package static func client(over socket: borrowing FileDescriptor) throws(SystemError) -> TLSSession {
        try TLSSession(GNUTLS_CLIENT, as: TLSContext(priority: "NORMAL:+VERS-TLS-ALL:%COMPAT"), over: socket)
    }

    deinit { unsafe gnutls_deinit(session) }

    /// Continues the handshake. Returns whether it is complete, `false` if the socket would block. The error's code is
    /// `peer` if the peer ends the handshake with an alert. Corresponds to `gnutls_handshake`.
    package func handshake() throws(SystemError) -> Bool {
        while true {
            let result = unsafe gnutls_handshake(session)
            switch result {
            case 0: return true
            case GNUTLS_E_AGAIN: return false
            case GNUTLS_E_FATAL_ALERT_RECEIVED: throw SystemError(.peer, "the server refused the handshake")
            default: if gnutls_error_is_fatal(result) != 0 { try checkGnuTLS(result) }
            }
        }
    }

    /// Whether the peer has sent a certificate, even if the handshake failed.
    package var hasPeerCertificate: Bool {
        var count: UInt32 = 0
        return unsafe gnutls_certificate_get_peers(session, &count) != nil
    }

    /// Sends one record of up to 16 KiB over a blocking socket. Corresponds to `gnutls_record_send`.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        _ = try repeated { unsafe gnutls_record_send(session, bytes, bytes.count) }
    }

    /// Receives up to 4 KiB over a blocking socket; empty at the end of the stream, with or without a closing alert.
    package func receive() throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try repeated { unsafe gnutls_record_recv(session, &buffer, buffer.count) }
        return Array(buffer[..<count])
    }

    /// Repeats the call after an error that is not fatal, for example when a session ticket came instead of data.
    private func repeated(_ call: () -> Int) throws(SystemError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            if result == Int(GNUTLS_E_PREMATURE_TERMINATION) { return 0 }
            if gnutls_error_is_fatal(Int32(result)) != 0 { try checkGnuTLS(Int32(result)) }
        }
    }
}

extension TLSContext {
    /// Performs a handshake between a server and a client in this process, to prove that clients can connect.
    package func tryHandshake() throws(SystemError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw SystemError(.system, describe(errorNumber: errno))
        }
        let serverSocket = FileDescriptor(owning: pair[0])
        let clientSocket = FileDescriptor(owning: pair[1])
        let server = try TLSSession(GNUTLS_SERVER, as: self, over: serverSocket)
        let client = try TLSSession.client(over: clientSocket)
        var isServerReady = false
        var isClientReady = false
        // Each turn processes what the other side has sent; a handshake needs a few turns.
        for _ in 0..<100 where !(isServerReady && isClientReady) {
            if !isClientReady { isClientReady = try client.handshake() }
            if !isServerReady { isServerReady = try server.handshake() }
        }
        guard isServerReady && isClientReady else { throw SystemError(.system, "the handshake does not complete") }
    }
}
