internal import Glibc

/// A connected stream socket whose calls block.
package struct ClientSocket: ~Copyable {
    package let descriptor: FileDescriptor

    /// Tries the addresses of a server on this machine. Linux takes the address of all interfaces for the loopback.
    package init(_ address: ListenAddress) throws(SystemError) {
        if case .tcp(_, port: 0) = address {
            throw SystemError(.address, "port 0 lets the server choose; expected its actual port")
        }
        var failure = "no such host"
        for candidate in address.socketAddresses {
            let number = socket(candidate.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard number >= 0 else { throw SystemError(.system, describe(errorNumber: errno)) }
            let open = FileDescriptor(owning: number)
            let error = unsafe candidate.withPointer {
                unsafe connect(number, $0, $1) == 0 ? nil : ErrorNumber.last
            }
            guard let error else {
                descriptor = open
                return
            }
            failure = "\(error)"
        }
        throw SystemError(.address, failure)
    }

    package func send(_ bytes: [UInt8]) throws(SystemError) {
        if let error = writeAll(bytes, to: descriptor.number).error { throw SystemError(.peer, "\(error)") }
    }

    /// Returns no bytes at the end of the stream.
    package func receive() throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let received = unsafe recv(descriptor.number, &buffer, buffer.count, 0)
        guard received >= 0 else { throw SystemError(.peer, describe(errorNumber: errno)) }
        return Array(buffer[..<received])
    }
}
