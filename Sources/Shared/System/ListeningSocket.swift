internal import Glibc

/// A listening socket. Its `deinit` closes it and removes the file of a `unix:` address.
package final class ListeningSocket: Sendable {
    /// The bound address with its real port.
    package let address: ListenAddress
    private let socket: FileDescriptor
    /// The inode of our `unix:` file: another process may have put its own there since.
    private let inode: ino_t?

    package var descriptor: Int32 { socket.number }

    private init(owning socket: consuming FileDescriptor, address: ListenAddress, inode: ino_t? = nil) {
        self.socket = socket
        self.address = address
        self.inode = inode
    }

    package static func open(_ address: ListenAddress) throws(SystemError) -> ListeningSocket {
        switch address {
        case .tcp(let host, let port): try openTCP(host: host, port: port)
        case .unix(let path): try openUnix(path)
        }
    }

    /// The sockets that systemd passes to a service of a `.socket` unit: sd_listen_fds(3).
    /// - Parameter first: the number of the first descriptor.
    package static func inherited(
        environment: [String: String] = environmentVariables(), first: Int32 = 3
    ) throws(SystemError) -> [ListeningSocket] {
        guard let process = environment["LISTEN_PID"], Int32(process) == getpid(),
            let text = environment["LISTEN_FDS"], let count = Int32(text), (1...1000).contains(count)
        else {
            throw SystemError(.address, "systemd has passed no sockets to this process")
        }
        var sockets: [ListeningSocket] = []
        for number in first..<first + count { sockets.append(try inherit(number)) }
        return sockets
    }

    private static func inherit(_ number: Int32) throws(SystemError) -> ListeningSocket {
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1,
            let address = boundAddress(of: number)
        else { throw SystemError(.address, "descriptor \(number) from systemd is not a listening stream socket") }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        // The file of a unix: socket is systemd's to remove.
        return ListeningSocket(owning: FileDescriptor(owning: number), address: address)
    }

    deinit {
        if case .unix(let path) = address, inode != nil, inode == inodeOfSocket(path) {
            _ = unsafe unlink(path)
        }
    }

    // MARK: - TCP

    private static func openTCP(host: String, port: Int) throws(SystemError) -> ListeningSocket {
        let asked = ListenAddress.tcp(host: host, port: port)
        // An IPv6 socket takes IPv4 as well; a kernel without IPv6 needs the other. A name with both kinds of addresses
        // means IPv4, as for other servers.
        let places = host.isEmpty ? [("::", AF_INET6), ("0.0.0.0", AF_INET)] : [(host, AF_INET), (host, AF_INET6)]
        for (host, family) in places {
            guard let address = try? SocketAddress.lookUp(host, port: port, family: family, flags: AI_PASSIVE).first
            else { continue }
            let number = streamSocket(family)
            if number < 0, errno == EAFNOSUPPORT { continue }
            let socket = try listen(number, on: address, shown: asked)
            return ListeningSocket(owning: socket, address: boundAddress(of: number) ?? asked)
        }
        throw SystemError(.address, "cannot listen on \(asked): no such host")
    }

    private static func listen(
        _ number: Int32, on address: SocketAddress, shown: ListenAddress
    ) throws(SystemError) -> FileDescriptor {
        guard number >= 0 else { throw failure(shown) }
        let socket = FileDescriptor(owning: number)
        // Without these options, if the kernel does not know them, the socket still works.
        set(SO_REUSEADDR, of: number, level: SOL_SOCKET, to: 1)
        if address.family == AF_INET6 { set(IPV6_V6ONLY, of: number, level: Int32(IPPROTO_IPV6), to: 0) }
        let isBound = unsafe address.withPointer { unsafe bind(number, $0, $1) == 0 }
        guard isBound, Glibc.listen(number, SOMAXCONN) == 0 else { throw failure(shown) }
        return socket
    }

    private static func set(_ option: Int32, of socket: Int32, level: Int32, to value: Int32) {
        var value = value
        _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: - unix

    private static func openUnix(_ path: String) throws(SystemError) -> ListeningSocket {
        let address = ListenAddress.unix(path: path)
        try removeStale(address, path)
        let socket = try listen(
            streamSocket(AF_UNIX), on: SocketAddress(unix: Array(path.utf8)), shown: address)
        return ListeningSocket(owning: socket, address: address, inode: inodeOfSocket(path))
    }

    /// Removes the socket file that a killed process left behind: nobody listens on it.
    private static func removeStale(_ address: ListenAddress, _ path: String) throws(SystemError) {
        guard let status = fileStatus(path, followsLink: false) else { return }
        guard status.isSocket else {
            throw SystemError(.address, "cannot listen on \(address): there is a file that is not a socket")
        }
        let number = streamSocket(AF_UNIX)
        guard number >= 0 else { throw failure(address) }
        let probe = FileDescriptor(owning: number)
        let isDead = unsafe SocketAddress(unix: Array(path.utf8)).withPointer {
            unsafe connect(probe.number, $0, $1) != 0 && errno == ECONNREFUSED
        }
        guard isDead else { throw SystemError(.address, "cannot listen on \(address): another process listens on it") }
        _ = unsafe unlink(path)
    }

    private static func failure(_ address: ListenAddress) -> SystemError {
        let error = errno
        let reason = error == EADDRINUSE ? "the address is in use" : describe(errorNumber: error)
        return SystemError(.address, "cannot listen on \(address): \(reason)")
    }
}

private func streamSocket(_ family: Int32) -> Int32 {
    socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
}

private func inodeOfSocket(_ path: String) -> ino_t? {
    fileStatus(path, followsLink: false).flatMap { $0.isSocket ? $0.st_ino : nil }
}

private func boundAddress(of socket: Int32) -> ListenAddress? {
    unsafe SocketAddress.filled { unsafe getsockname(socket, $0, $1) }?.address.listenAddress
}
