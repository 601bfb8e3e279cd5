package import Glibc

/// An address of a socket of any family, as the kernel takes and gives it.
package struct SocketAddress: Sendable, Equatable {
    /// Bytes of `sockaddr_un.sun_path`, one left for the NUL that ends a path.
    static let maximumPathBytes = 107

    /// Bytes of a `sockaddr`.
    private let bytes: [UInt8]

    /// - Parameter path: of a file, or a name in the abstract space behind a NUL; at most `maximumPathBytes`.
    package init(unix path: [UInt8]) {
        let family = unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe Array($0) }
        // A path carries its NUL; an abstract name is as long as the length says.
        bytes = family + path + (path.first == 0 ? [] : [0])
    }

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = unsafe Array(bytes) }

    /// Copies what a C library lends.
    package init?(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) {
        guard let address = unsafe address else { return nil }
        unsafe self.init(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    /// The result and what the call has filled in; `nil` when it fails. For `accept`, `getsockname` and `getpeername`.
    package static func filled(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (result: Int32, address: SocketAddress)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutableBytes(of: &storage) { storage in
            let result = unsafe call(storage.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
            guard result >= 0 else { return nil }
            return unsafe (result, SocketAddress(UnsafeRawBufferPointer(rebasing: storage.prefix(Int(length)))))
        }
    }

    /// The addresses of a host for TCP, in the order in which to try them; an empty one means all interfaces. Can block
    /// for half a minute. Corresponds to `getaddrinfo`.
    package static func lookUp(_ host: String, port: Int = 0) throws(SystemError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var first: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host.isEmpty ? nil : host, "\(port)", &hints, &first)
        guard result == 0 else {
            let reason =
                result == EAI_SYSTEM ? describe(errorNumber: errno) : unsafe String(cString: gai_strerror(result))
            throw SystemError(.address, "cannot look up \(host): \(reason)")
        }
        defer { unsafe freeaddrinfo(first) }
        return unsafe sequence(first: first!, next: { unsafe $0.pointee.ai_next }).map {
            unsafe SocketAddress(UnsafeRawBufferPointer(start: $0.pointee.ai_addr, count: Int($0.pointee.ai_addrlen)))
        }
    }

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes {
            unsafe body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
    }

    package var family: Int32 { unsafe bytes.withUnsafeBytes { unsafe Int32($0.loadUnaligned(as: sa_family_t.self)) } }

    /// The address to listen on, `nil` where a server cannot listen there.
    package var listenAddress: ListenAddress? {
        switch family {
        case AF_UNIX:
            let path = bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
            return .unix(path: String(decoding: path, as: UTF8.self))
        case AF_INET, AF_INET6: return .tcp(host: ip.description, port: Int(bytes[2]) << 8 | Int(bytes[3]))
        default: return nil
        }
    }

    package var ip: IPAddress {
        switch family {
        case AF_INET where bytes.count >= 8: IPAddress(bytes: bytes[4..<8])
        case AF_INET6 where bytes.count >= 24: IPAddress(bytes: bytes[8..<24])
        default: IPAddress(bytes: [])
        }
    }
}
