internal import Glibc

/// A listening socket. Its `deinit` closes it and removes the file of a `unix:` address.
package final class ListeningSocket: Sendable {
    /// Has the actual port.
    package let address: ListenAddress
    private let socket: FileDescriptor
    /// Identity of our `unix:` file, because another process may have replaced it.
    private let file: FileIdentity?

    package var descriptor: Int32 { socket.number }

    private init(owning socket: consuming FileDescriptor, address: ListenAddress, file: FileIdentity?) {
        self.socket = socket
        self.address = address
        self.file = file
    }

    package static func open(_ address: ListenAddress) throws(SystemError) -> ListeningSocket {
        if case .unix(let path) = address { try removeStale(path) }
        for candidate in candidates(of: address) {
            let (number, error) = streamSocket(candidate.family)
            if number < 0, error.code == EAFNOSUPPORT { continue }
            guard number >= 0 else { throw cannotListen(on: address, error) }
            let socket = FileDescriptor(owning: number)
            // The socket still works if the kernel does not support these options.
            set(SO_REUSEADDR, of: number, level: SOL_SOCKET, to: 1)
            if candidate.family == AF_INET6 { set(IPV6_V6ONLY, of: number, level: Int32(IPPROTO_IPV6), to: 0) }
            let failure = unsafe candidate.withPointer { pointer, length in
                unsafe bind(number, pointer, length) == 0 && Glibc.listen(number, SOMAXCONN) == 0
                    ? nil : ErrorNumber.last
            }
            if let failure { throw cannotListen(on: address, failure) }
            let file: FileIdentity? = if case .unix(let path) = address { FileIdentity(path) } else { nil }
            return ListeningSocket(owning: socket, address: boundAddress(of: number) ?? address, file: file)
        }
        throw SystemError(.address, "cannot listen on \(address): no such host")
    }

    /// Addresses to bind, in order: the next one is used if the kernel does not support a family.
    private static func candidates(of address: ListenAddress) -> [SocketAddress] {
        let found = address.socketAddresses
        // An IPv6 socket on all interfaces accepts IPv4 too. A name with both kinds means IPv4, as in other servers.
        let preferred = if case .tcp(host: "", port: _) = address { AF_INET6 } else { AF_INET }
        return found.filter { $0.family == preferred } + found.filter { $0.family != preferred }
    }

    /// Returns the sockets that systemd passes to the service of a `.socket` unit; see sd_listen_fds(3).
    package static func inherited(
        environment: [String: String] = environmentVariables()
    ) throws(SystemError) -> [ListeningSocket] {
        guard let process = environment["LISTEN_PID"], Int32(process) == getpid(),
            let text = environment["LISTEN_FDS"], let count = Int32(text), (1...1000).contains(count)
        else { throw SystemError(.address, "systemd has passed no sockets to this process") }
        return try (3..<3 + count).map { (number) throws(SystemError) in try inherit(number) }
    }

    private static func inherit(_ number: Int32) throws(SystemError) -> ListeningSocket {
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1,
            let address = boundAddress(of: number)
        else { throw SystemError(.address, "descriptor \(number) from systemd is not a listening stream socket") }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        // systemd removes the file of a unix: socket.
        return ListeningSocket(owning: FileDescriptor(owning: number), address: address, file: nil)
    }

    deinit {
        if case .unix(let path) = address, let file, file == FileIdentity(path) { removeFile(path) }
    }

    /// Removes a socket file left behind by a process that was killed, if nothing listens on it.
    private static func removeStale(_ path: String) throws(SystemError) {
        let address = ListenAddress.unix(path: path)
        guard let status = try? fileStatus(path, followsLink: false) else { return }
        guard status.isSocket else {
            throw SystemError(.address, "cannot listen on \(address): there is a file that is not a socket")
        }
        let (number, failure) = streamSocket(AF_UNIX)
        guard number >= 0 else { throw cannotListen(on: address, failure) }
        let probe = FileDescriptor(owning: number)
        let error = unsafe SocketAddress(unix: Array(path.utf8)).withPointer {
            unsafe connect(probe.number, $0, $1) == 0 ? nil : ErrorNumber.last
        }
        // EAGAIN means that the queue of connections is full.
        guard let error, error.code != EAGAIN else {
            throw SystemError(.address, "cannot listen on \(address): another process listens on it")
        }
        guard error.code == ECONNREFUSED else { throw cannotListen(on: address, error) }
        removeFile(path)
    }

    private static func cannotListen(on address: ListenAddress, _ error: ErrorNumber) -> SystemError {
        let reason = error.code == EADDRINUSE ? "the address is in use" : "\(error)"
        return SystemError(.address, "cannot listen on \(address): \(reason)")
    }
}

/// Returns a negative number and the reason if there is none.
private func streamSocket(_ family: Int32) -> (number: Int32, error: ErrorNumber) {
    (socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0), .last)
}

private func set(_ option: Int32, of socket: Int32, level: Int32, to value: Int32) {
    var value = value
    _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

private func boundAddress(of socket: Int32) -> ListenAddress? {
    (try? unsafe SocketAddress.filled { unsafe getsockname(socket, $0, $1) })?.address.listenAddress
}
