internal import Glibc

/// A connected stream socket whose calls block for a limited time.
package struct ClientSocket: ~Copyable {
    package let descriptor: FileDescriptor

    /// Connects to where a server of this machine listens. Looking up a host that is a name is not bounded by the time.
    package static func open(_ address: ListenAddress, timeout: Duration) throws(SystemError) -> ClientSocket {
        switch address {
        case .unix(let path):
            let socket = try ClientSocket(AF_UNIX, timeout: timeout)
            try check(unsafe withUnixAddress(Array(path.utf8)) { unsafe connect(socket.descriptor.number, $0, $1) })
            return socket
        case .tcp(_, port: 0):
            throw SystemError(.address, "port 0 is known to the server only")
        case .tcp(let host, let port):
            return try open(host: host, port: port, timeout: timeout)
        }
    }

    /// Tries the addresses in turn; those of no host are the loopback's.
    private static func open(host: String, port: Int, timeout: Duration) throws(SystemError) -> ClientSocket {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host.isEmpty ? nil : host, "\(port)", &hints, &found) == 0 else {
            throw SystemError(.address, "no such host")
        }
        defer { unsafe freeaddrinfo(found) }
        var failure = SystemError(.address, "no such host")
        var next = unsafe found
        while let address = unsafe next?.pointee {
            do throws(SystemError) {
                let socket = try unsafe ClientSocket(address.ai_family, timeout: timeout)
                try unsafe check(connect(socket.descriptor.number, address.ai_addr, address.ai_addrlen))
                return socket
            } catch {
                failure = error
            }
            unsafe next = address.ai_next
        }
        throw failure
    }

    private init(_ family: Int32, timeout: Duration) throws(SystemError) {
        let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError(.system, describe(errorNumber: errno)) }
        descriptor = FileDescriptor(owning: number)
        let time = timeout.timespec
        var limit = timeval(tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    private static func check(_ result: Int32) throws(SystemError) {
        guard result != 0 else { return }
        if errno == EINPROGRESS { throw noAnswer }
        throw SystemError(.address, describe(errorNumber: errno))
    }

    package func send(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            rest = rest.dropFirst(try Self.count(sent))
        }
    }

    /// Empty at the end of the stream.
    package func receive() throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let received = unsafe recv(descriptor.number, &buffer, buffer.count, 0)
        return Array(buffer[..<(try Self.count(received))])
    }

    private static func count(_ result: Int) throws(SystemError) -> Int {
        if result >= 0 { return result }
        throw errno == EAGAIN ? noAnswer : SystemError(.peer, describe(errorNumber: errno))
    }

    package static var noAnswer: SystemError { SystemError(.timeout, "no answer in time") }
}
