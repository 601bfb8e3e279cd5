internal import Glibc

/// Where a connection comes from: 4 or 16 bytes of an IP address; none for a `unix:` socket.
struct PeerAddress: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// - Parameter bytes: an IPv4 address in IPv6 is taken for what it is.
    init(bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self.init(bytes: [])
            return
        }
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(
                bytes: unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe withUnsafeBytes(of: $0.pointee.sin_addr) { unsafe Array($0) }
                })
        case AF_INET6:
            self.init(
                bytes: unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) { unsafe Array($0) }
                })
        default: self.init(bytes: [])
        }
    }

    /// As Go writes it, empty without one; corresponds to `inet_ntop`.
    var description: String {
        guard bytes.count == 4 || bytes.count == 16 else { return "" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil
        else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What limits take for one client: an IPv4 address, or a /64 of IPv6, which is what one subscriber has.
    var client: [UInt8] { Array(bytes.prefix(8)) }
}
