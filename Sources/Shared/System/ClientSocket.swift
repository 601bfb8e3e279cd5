internal import Glibc

/// A connected stream socket whose calls block for a limited time.
package struct ClientSocket: ~Copyable {
    package let descriptor: FileDescriptor

    /// Connects to where a server of this machine listens: tries the addresses in turn; those of no host are the loopback's.
    /// Looking up a host that is a name is not bounded by the time.
    package static func open(_ address: ListenAddress, timeout: Duration) throws(SystemError) -> ClientSocket {
        let candidates: [SocketAddress]
        switch address {
        case .unix(let path): candidates = [SocketAddress(unix: Array(path.utf8))]
        case .tcp(_, port: 0): throw SystemError(.address, "port 0 is known to the server only")
        case .tcp(let host, let port): candidates = (try? SocketAddress.lookUp(host, port: port)) ?? []
        }
        var failure = SystemError(.address, "no such host")
        for candidate in candidates {
            do throws(SystemError) {
                let socket = try ClientSocket(candidate.family, timeout: timeout)
                try check(unsafe candidate.withPointer { unsafe connect(socket.descriptor.number, $0, $1) })
                return socket
            } catch {
                failure = error
            }
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

    package static var noAnswer: SystemError { SystemError(.timeout, "no response in time") }
}
