internal import Glibc

/// An IPv4 or IPv6 address, or none, as for a `unix:` socket.
package struct IPAddress: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// - Parameter bytes: 4 or 16 bytes, or none; an IPv4-mapped IPv6 address becomes an IPv4 address.
    package init(bytes: some Collection<UInt8>) {
        let isMapped = bytes.count == 16 && bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        self.bytes = Array(isMapped ? bytes.dropFirst(12) : bytes[...])
    }

    /// Formatted as in Go; empty if there is no address. Corresponds to `inet_ntop`.
    package var description: String {
        guard bytes.count == 4 || bytes.count == 16 else { return "" }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            return unsafe String(cString: inet_ntop(family, bytes, text.baseAddress, socklen_t(text.count)))
        }
    }

    /// Key for per-client limits: an IPv4 address, or the /64 of an IPv6 address, which is what one subscriber has.
    package var client: [UInt8] { Array(bytes.prefix(8)) }
}
