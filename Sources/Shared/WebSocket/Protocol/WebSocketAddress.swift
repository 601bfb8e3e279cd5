internal import Bytes
internal import Glibc
public import System

/// A validated `ws://` or `wss://` address (RFC 6455, section 3).
public struct WebSocketAddress: Sendable, Equatable {
    public private(set) var isSecure = false
    /// In lower case; an IPv6 address without its brackets.
    public private(set) var host = "localhost"
    public private(set) var port = 80
    /// Path and query for the request line; begins with `/`.
    public private(set) var target = "/"
    /// The user and password in the address, with a colon between them.
    public private(set) var credentials: [UInt8]?

    /// Limit on the whole address: the request-line length that every server should support (RFC 9112, section 3).
    static let maximumBytes = 8000
    private static let maximumLabelBytes = 128

    /// Creates `ws://localhost/`.
    public init() {}

    /// - Throws: a reason that quotes nothing from the text, which may contain a password.
    public init(_ text: String) throws(SystemError) {
        try require(text.utf8.count <= Self.maximumBytes, "it is longer than \(Self.maximumBytes) bytes")
        let lowercased = text.lowercased()
        isSecure = lowercased.utf8.starts(with: "wss://".utf8)
        let isPlain = lowercased.utf8.starts(with: "ws://".utf8)
        try require(isSecure || isPlain, "it does not begin with ws:// or wss://")
        let rest = text.utf8.dropFirst(isSecure ? 6 : 5)
        // A query may contain an address.
        let isTwice = rest.prefix { $0 != UInt8(ascii: "?") }.firstRange(of: "://".utf8) != nil
        let isList = [",", ";", "|", " "].contains {
            lowercased.contains($0 + "ws://") || lowercased.contains($0 + "wss://")
        }
        try require(!isTwice && !isList, "it holds two addresses; give each its own flag or line")
        try require(
            rest.allSatisfy { 0x21...0x7E ~= $0 },
            "it has a blank, control or non-ASCII character; percent-encode it or use xn--")
        try require(!rest.contains(UInt8(ascii: "#")), "it has a fragment (#), which a WebSocket address cannot have")
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        var hostAndPort = authority
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            hostAndPort = authority[at...].dropFirst()
            credentials = try Self.credentials(from: authority[..<at])
        }
        try read(hostAndPort: Substring(hostAndPort))
        let target = Substring(rest[authority.endIndex...])
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    /// The `feed` label: no user, password, query or default port. An empty path becomes `/`, path segments that may
    /// be tokens become `…`, and the label is cut to 128 bytes.
    public var label: String {
        let path = pathWithoutTokens(String(target.prefix { $0 != "?" }))
        var label = (isSecure ? "wss://" : "ws://") + hostHeader + path
        while label.utf8.count > Self.maximumLabelBytes { label.removeLast() }
        return label
    }

    /// Value of the `Host` header field (RFC 9110, section 7.2).
    var hostHeader: String {
        // Only an IPv6 address has colons.
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == defaultPort ? name : "\(name):\(port)"
    }

    private var defaultPort: Int { isSecure ? 443 : 80 }

    /// `Basic …`, built from the credentials.
    public var authorization: String? { credentials.map { "Basic " + encodeBase64($0) } }

    private static func credentials(from user: Substring.UTF8View) throws(SystemError) -> [UInt8] {
        guard let decoded = percentDecoded(user) else {
            throw SystemError(.address, "a % in its user or password is not followed by two hexadecimal digits")
        }
        // RFC 7617 splits at the first colon; only the separator is literal here, other colons are percent-encoded.
        return user.contains(UInt8(ascii: ":")) ? decoded : decoded + [UInt8(ascii: ":")]
    }

    private mutating func read(hostAndPort text: Substring) throws(SystemError) {
        let name: Substring
        let rest: Substring
        if text.hasPrefix("[") || text.count(where: { $0 == ":" }) > 1 {
            let end = text.firstIndex(of: "]") ?? text.startIndex
            name = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
            let isIPv6 = text.hasPrefix("[") && name.contains(":") && isNumericAddress(String(name))
            try require(isIPv6, "an IPv6 address must be in [ ], without a zone")
        } else {
            name = text.prefix { $0 != ":" }
            rest = text[name.endIndex...]
            try require(!name.isEmpty, "it has no host")
            try require(
                name.utf8.allSatisfy(isHostCharacter),
                "its host has something other than letters, digits, '-', '.' and '_'")
        }
        host = name.lowercased()
        port = defaultPort
        if rest.isEmpty { return }
        guard rest.hasPrefix(":"), let given: UInt16 = decimalNumber(rest.utf8.dropFirst()), given > 0 else {
            throw SystemError(.address, "its port is not a number from 1 to 65535")
        }
        port = Int(given)
    }
}

private func require(_ isMet: Bool, _ reason: String) throws(SystemError) {
    if !isMet { throw SystemError(.address, reason) }
}

private func isHostCharacter(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "-._".utf8.contains(byte) }

/// Whether the host is an IPv4 or IPv6 address. Corresponds to `inet_pton`.
func isNumericAddress(_ host: String) -> Bool {
    var address = in6_addr()
    return unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
}
