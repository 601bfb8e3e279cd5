internal import CGnuTLS
internal import Glibc
package import System
internal import WebConfiguration

/// A connection as a health probe uses it; deadlines are monotonic times.
package protocol ProbeStream: ~Copyable {
    borrowing func send(_ bytes: [UInt8], until deadline: Duration) throws(SystemError)
    /// Empty at the end of the stream.
    borrowing func receive(until deadline: Duration) throws(SystemError) -> [UInt8]
}

/// A connected stream socket that does not block.
package struct PlainConnection: ~Copyable, ProbeStream {
    let socket: FileDescriptor

    private init(_ family: Int32) throws(SystemError) {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = Glibc.socket(family, Int32(type), 0)
        guard number >= 0 else { throw SystemError(.system, describe(errorNumber: errno)) }
        socket = FileDescriptor(owning: number)
    }

    package static func open(unix path: String, until deadline: Duration) throws(SystemError) -> PlainConnection {
        let bytes = Array(path.utf8)
        guard bytes.count <= unixAddressLimit else { throw SystemError(.address, "the path is too long") }
        let connection = try PlainConnection(AF_UNIX)
        try connection.finish(
            unsafe withUnixAddress(bytes) { unsafe connect(connection.socket.number, $0, $1) }, until: deadline)
        return connection
    }

    /// Tries the first address of the host only.
    package static func open(host: String, port: Int, until deadline: Duration) throws(SystemError) -> PlainConnection {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "\(port)", &hints, &found) == 0, let first = unsafe found else {
            throw SystemError(.address, "no such host")
        }
        defer { unsafe freeaddrinfo(found) }
        let connection = try unsafe PlainConnection(first.pointee.ai_family)
        try connection.finish(
            unsafe connect(connection.socket.number, first.pointee.ai_addr, first.pointee.ai_addrlen), until: deadline)
        return connection
    }

    /// Waits for a `connect` that is under way.
    private func finish(_ result: Int32, until deadline: Duration) throws(SystemError) {
        if result == 0 { return }
        guard errno == EINPROGRESS || errno == EINTR else { throw Self.failure(errno) }
        try wait(for: Int16(POLLOUT), until: deadline)
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &error, &length)
        guard error == 0 else { throw Self.failure(error) }
    }

    private static func failure(_ error: Int32) -> SystemError {
        SystemError(.address, describe(errorNumber: error))
    }

    package func wait(for events: Int16, until deadline: Duration) throws(SystemError) {
        try waitUntilReady(socket.number, for: events, until: deadline)
    }

    package func send(_ bytes: [UInt8], until deadline: Duration) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 {
                rest = rest.dropFirst(sent)
            } else if errno == EAGAIN {
                try wait(for: Int16(POLLOUT), until: deadline)
            } else if errno != EINTR {
                throw SystemError(.peer, describe(errorNumber: errno))
            }
        }
    }

    package func receive(until deadline: Duration) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(socket.number, &buffer, buffer.count, 0)
            if count >= 0 { return Array(buffer[..<count]) }
            if errno == EAGAIN {
                try wait(for: Int16(POLLIN), until: deadline)
            } else if errno != EINTR {
                throw SystemError(.peer, describe(errorNumber: errno))
            }
        }
    }
}

/// Owns a `gnutls_session_t` of a client, its credentials and its connection. It verifies nothing.
@safe package struct TLSClientSession: ~Copyable, ProbeStream {
    private let connection: PlainConnection
    private let session: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t

    private init(
        over connection: consuming PlainConnection, session: gnutls_session_t,
        credentials: gnutls_certificate_credentials_t
    ) {
        self.connection = connection
        unsafe self.session = session
        unsafe self.credentials = credentials
    }

    package static func open(over connection: consuming PlainConnection) throws(SystemError) -> TLSClientSession {
        var credentials: gnutls_certificate_credentials_t?
        try unsafe checkGnuTLS(gnutls_certificate_allocate_credentials(&credentials))
        var session: gnutls_session_t?
        let flags = GNUTLS_CLIENT.rawValue | GNUTLS_NONBLOCK.rawValue | GNUTLS_NO_SIGNAL.rawValue
        let result = unsafe gnutls_init(&session, flags)
        guard result >= 0 else {
            unsafe gnutls_certificate_free_credentials(credentials)
            throw SystemError(.tls, describe(gnuTLS: result))
        }
        let client = unsafe TLSClientSession(over: connection, session: session!, credentials: credentials!)
        try client.configure()
        return client
    }

    private func configure() throws(SystemError) {
        try unsafe checkGnuTLS(
            gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials)))
        // Every version: the server decides.
        try unsafe checkGnuTLS(gnutls_priority_set_direct(session, "NORMAL:+VERS-TLS-ALL", nil))
        unsafe gnutls_transport_set_int2(session, connection.socket.number, connection.socket.number)
    }

    deinit {
        unsafe gnutls_deinit(session)
        unsafe gnutls_certificate_free_credentials(credentials)
    }

    /// False when the server ends the handshake with an alert. Corresponds to `gnutls_handshake`.
    package func handshake(until deadline: Duration) throws(SystemError) -> Bool {
        var isRefused = false
        _ = try repeating(until: deadline) {
            let result = unsafe gnutls_handshake(session)
            isRefused = result == GNUTLS_E_FATAL_ALERT_RECEIVED
            return isRefused ? 0 : Int(result)
        }
        return !isRefused
    }

    package func send(_ bytes: [UInt8], until deadline: Duration) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = try repeating(until: deadline) {
                unsafe rest.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(sent)
        }
    }

    package func receive(until deadline: Duration) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try repeating(until: deadline) {
            let result = unsafe gnutls_record_recv(session, &buffer, buffer.count)
            // Closing without the closing alert is an end like any other here.
            return result == Int(GNUTLS_E_PREMATURE_TERMINATION) ? 0 : result
        }
        return Array(buffer[..<count])
    }

    /// Calls again after waiting for the socket, as GnuTLS wants it where it would block.
    private func repeating(until deadline: Duration, _ call: () -> Int) throws(SystemError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let error = Int32(result)
            if error == GNUTLS_E_AGAIN {
                let writes = unsafe gnutls_record_get_direction(session) == 1
                try connection.wait(for: Int16(writes ? POLLOUT : POLLIN), until: deadline)
            } else if gnutls_error_is_fatal(error) != 0 {
                throw SystemError(.tls, describe(gnuTLS: error))
            }
        }
    }
}

/// Waits until the descriptor is ready or broken; the next call shows which.
private func waitUntilReady(
    _ number: Int32, for events: Int16, until deadline: Duration
) throws(SystemError) {
    while true {
        let rest = deadline - monotonicTime()
        guard rest > .zero else { throw SystemError(.timeout, "no answer in time") }
        var descriptor = pollfd(fd: number, events: events, revents: 0)
        let ready = unsafe poll(&descriptor, 1, rest.pollMilliseconds)
        if ready > 0 { return }
        if ready < 0, errno != EINTR { throw SystemError(.system, describe(errorNumber: errno)) }
    }
}
