internal import Glibc

/// 4 or 16 bytes, or none where there is no such address, as for a `unix:` socket.
package struct IPAddress: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// - Parameter bytes: an IPv4 address in IPv6 is taken for what it is.
    package init(bytes: some Collection<UInt8>) {
        let isMapped = bytes.count == 16 && bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        self.bytes = Array(isMapped ? bytes.dropFirst(12) : bytes[...])
    }

    /// As Go writes it, empty without one; corresponds to `inet_ntop`.
    package var description: String {
        guard bytes.count == 4 || bytes.count == 16 else { return "" }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            return unsafe String(cString: inet_ntop(family, bytes, text.baseAddress, socklen_t(text.count)))
        }
    }

    /// One client to limits: an IPv4 address, or a /64 of IPv6, which is what one subscriber has.
    package var client: [UInt8] { Array(bytes.prefix(8)) }
}
