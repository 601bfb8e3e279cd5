package import Glibc

/// A socket address of any family, as the kernel represents it.
package struct SocketAddress: Sendable, Equatable {
    /// Capacity of `sockaddr_un.sun_path` without the NUL that ends a path.
    static let maximumPathBytes = 107

    /// Bytes of a `sockaddr`.
    private let bytes: [UInt8]

    /// - Parameter path: path of a file, or NUL and an abstract name; at most `maximumPathBytes`.
    package init(unix path: [UInt8]) {
        let family = unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe Array($0) }
        // A NUL ends a path; the length of the address ends an abstract name.
        bytes = family + path + (path.first == 0 ? [] : [0])
    }

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = unsafe Array(bytes) }

    /// Copies an address that a C library owns.
    package init?(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) {
        guard let address = unsafe address else { return nil }
        unsafe self.init(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    /// Returns a call's result and the address it filled in. For `accept` and similar calls.
    package static func filled(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) throws(ErrorNumber) -> (result: Int32, address: SocketAddress) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return try unsafe withUnsafeMutableBytes(of: &storage) { (storage) throws(ErrorNumber) in
            let result = unsafe call(storage.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
            guard result >= 0 else { throw .last }
            return unsafe (result, SocketAddress(UnsafeRawBufferPointer(rebasing: storage.prefix(Int(length)))))
        }
    }

    /// Looks up the TCP addresses of a host, in the order to try them; an empty host means all interfaces. Can block
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

    /// `nil` if a server cannot listen on this address family.
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
