internal import Bytes

/// A listen address: `host:port`, `[::1]:port`, `:port` (all interfaces, IPv4 and IPv6) or `unix:/path`.
public enum ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An empty host means all interfaces; port 0 means a free port.
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// Parses a listen address; `nil` if it is malformed. Nothing is looked up or opened.
    public init?(_ text: String) {
        if let path = text.dropping(prefix: "unix:") {
            let bytes = path.utf8
            let isUsable = bytes.first == UInt8(ascii: "/") && !bytes.contains(0)
            guard isUsable, bytes.count <= SocketAddress.maximumPathBytes else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let host = Self.host(text[..<colon]) else { return nil }
        let digits = text[colon...].utf8.dropFirst()
        guard digits.count <= 5, let port: UInt16 = decimalNumber(digits) else { return nil }
        self = .tcp(host: host, port: Int(port))
    }

    /// Returns a name or an address; an IPv6 address must be in brackets, which are removed.
    private static func host(_ text: Substring) -> String? {
        guard text.first == "[" else {
            let isHost = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !":/]".utf8.contains($0) }
            return isHost ? String(text) : nil
        }
        let address = text.dropFirst().dropLast()
        let isAddress = text.last == "]" && address.contains(":") && !address.contains { "[]".contains($0) }
        return isAddress ? String(address) : nil
    }

    /// Addresses of the host in the order to try them; none if it is unknown. Can block for half a minute.
    var socketAddresses: [SocketAddress] {
        switch self {
        case .tcp(let host, let port): (try? SocketAddress.lookUp(host, port: port)) ?? []
        case .unix(let path): [SocketAddress(unix: Array(path.utf8))]
        }
    }

    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
