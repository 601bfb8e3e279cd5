internal import Bytes

/// The address on which a server listens: `host:port`, `[::1]:port`, `:port` (all interfaces, IPv4 and IPv6) or
/// `unix:/path`.
public enum ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An empty host means all interfaces; port 0 a free one.
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// Reads the text of a listen address. Nothing is looked up or opened.
    public init(_ text: String) throws(SystemError) {
        self =
            if let path = text.dropping(prefix: "unix:") {
                try Self.unix(path: path, text: text)
            } else {
                try Self.tcp(text)
            }
    }

    private static func unix(path: String, text: String) throws(SystemError) -> ListenAddress {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0), bytes.count <= SocketAddress.maximumPathBytes else {
            throw malformed(text, "unix: takes an absolute path of at most \(SocketAddress.maximumPathBytes) bytes")
        }
        return .unix(path: path)
    }

    private static func tcp(_ text: String) throws(SystemError) -> ListenAddress {
        guard let colon = text.lastIndex(of: ":") else {
            throw malformed(text, "expected host:port, [address]:port, :port or unix:/path")
        }
        let digits = text[text.index(after: colon)...].utf8
        guard digits.count <= 5, let port: Int = decimalNumber(digits), port <= 65535 else {
            throw malformed(text, "the port must be a number from 0 to 65535")
        }
        return .tcp(host: try host(text[..<colon], text: text), port: port)
    }

    private static func host(_ part: Substring, text: String) throws(SystemError) -> String {
        if part.first == "[" {
            let inner = part.dropFirst().dropLast()
            guard part.last == "]", inner.contains(":"), !inner.contains("["), !inner.contains("]") else {
                throw malformed(text, "brackets hold an IPv6 address, as in [::1]:10025")
            }
            return String(inner)
        }
        guard !part.contains(":") else { throw malformed(text, "an IPv6 address needs brackets, as in [::1]:10025") }
        guard part.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "]") })
        else { throw malformed(text, "the host must be a name or an address") }
        return String(part)
    }

    private static func malformed(_ text: String, _ expected: String) -> SystemError {
        SystemError(.address, "cannot listen on \"\(text)\": \(expected)")
    }

    /// Addresses of the host in the order in which to try them, none when it is unknown. Can block for half a minute.
    /// - Parameter flags: of `getaddrinfo`.
    func socketAddresses(flags: Int32 = 0) -> [SocketAddress] {
        switch self {
        case .tcp(let host, let port): (try? SocketAddress.lookUp(host, port: port, flags: flags)) ?? []
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
