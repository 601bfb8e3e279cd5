internal import Bytes
internal import Glibc

/// A `ws://` or `wss://` address (RFC 6455, section 3), checked.
///
/// The client hands host and target to libwebsockets, which cuts them at fixed lengths: longer ones are refused here.
public struct WebSocketAddress: Sendable, Equatable {
    public let isSecure: Bool
    /// In lower case; an IPv6 address without its brackets.
    public let host: String
    public let port: Int
    /// Path and query as the request line has them; begins with `/`.
    public let target: String
    /// `Basic …`, from the user and the password in the address.
    public let authorization: String?

    static let longestTarget = 1900
    static let longestHost = 100

    public init(_ text: String) throws(WebSocketAddressError) {
        guard let scheme = Self.scheme(of: text) else {
            throw WebSocketAddressError("it does not begin with ws:// or wss://")
        }
        let isSecure = scheme == "wss"
        let rest = text.utf8.dropFirst(scheme.utf8.count + 3)
        guard rest.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw WebSocketAddressError("it has a blank, a control character or one outside ASCII: percent-encode it")
        }
        guard !rest.contains(UInt8(ascii: "#")) else {
            throw WebSocketAddressError("it has a fragment (#), which a WebSocket address cannot have")
        }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let hostAndPort: Substring.UTF8View
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            hostAndPort = authority[authority.index(after: at)...]
            authorization = try Self.authorization(from: authority[..<at])
        } else {
            hostAndPort = authority
            authorization = nil
        }
        (host, port) = try Self.hostAndPort(Substring(hostAndPort), defaultPort: isSecure ? 443 : 80)
        let target = Substring(rest[authority.endIndex...])
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        self.isSecure = isSecure
        guard self.target.utf8.count <= Self.longestTarget else {
            throw WebSocketAddressError("its path and query are longer than \(Self.longestTarget) bytes")
        }
    }

    /// The `feed` label: without user, password, query and default port; the path is `/` when there is none.
    public var label: String {
        scheme + "://" + (port == defaultPort ? bracketedHost : "\(bracketedHost):\(port)")
            + target.prefix { $0 != "?" }
    }

    /// What may be shown of a text that was meant to be an address: user, password and query are `***`.
    /// Taken apart by its scalars: as a `Character`, `@` with a combining mark behind it is no `@`.
    public static func masked(_ text: String) -> String {
        let scheme = scheme(of: text).map { $0 + "://" } ?? ""
        let rest = text.unicodeScalars.dropFirst(scheme.count)
        let query = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        let shown = rest[..<query]
        // An @ behind a ? can end a password with a bare ? in it as well as stand in a query.
        if rest[query...].contains("@") { return scheme + "***" }
        let masked = shown.lastIndex(of: "@").map { "***" + String(shown[$0...]) } ?? String(shown)
        return scheme + masked + (query < rest.endIndex ? "\(rest[query])***" : "")
    }

    var scheme: String { isSecure ? "wss" : "ws" }

    var defaultPort: Int { isSecure ? 443 : 80 }

    var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// As addresses and the `Host` header write it.
    var bracketedHost: String { isIPv6 ? "[\(host)]" : host }

    /// The `Host` header (RFC 9110, section 7.2). An IP address always has its port: libwebsockets would take two
    /// connections to one address without it for one pipeline.
    var hostHeader: String {
        port == defaultPort && !isNumericAddress(host) ? host : "\(bracketedHost):\(port)"
    }

    private static func scheme(of text: String) -> String? {
        for scheme in ["ws", "wss"] where text.prefix(scheme.count + 3).lowercased() == scheme + "://" { return scheme }
        return nil
    }

    private static func authorization(from user: Substring.UTF8View) throws(WebSocketAddressError) -> String {
        guard let decoded = percentDecoded(user) else {
            throw WebSocketAddressError("a % in its user or password is not followed by two hexadecimal digits")
        }
        // The colon between the two is not percent-encoded, one inside them is: only the first counts in RFC 7617.
        let credentials = user.contains(UInt8(ascii: ":")) ? decoded : decoded + [UInt8(ascii: ":")]
        return "Basic " + encodeBase64(credentials)
    }

    private static func hostAndPort(
        _ text: Substring, defaultPort: Int
    ) throws(WebSocketAddressError) -> (host: String, port: Int) {
        let host: Substring
        var port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else {
                throw WebSocketAddressError("its [ has no ]")
            }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw WebSocketAddressError("something other than a port follows its ]")
            }
            port = rest.isEmpty ? nil : rest.dropFirst()
            guard isNumericAddress(String(host), family: AF_INET6) else {
                throw WebSocketAddressError("what stands between its [ and ] is not an IPv6 address")
            }
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw WebSocketAddressError("an IPv6 address has to stand in [ ]")
            }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
            guard !host.isEmpty else { throw WebSocketAddressError("it has no host") }
            guard host.utf8.allSatisfy(isHostCharacter) else {
                throw WebSocketAddressError("its host has something other than letters, digits, '-', '.' and '_'")
            }
        }
        guard host.utf8.count <= longestHost else {
            throw WebSocketAddressError("its host is longer than \(longestHost) bytes")
        }
        return (host.lowercased(), try port.map(Self.port) ?? defaultPort)
    }

    private static func port(_ text: Substring) throws(WebSocketAddressError) -> Int {
        guard !text.isEmpty, text.utf8.count <= 5, text.utf8.allSatisfy(isDigit), let port = Int(text),
            (1...65535).contains(port)
        else { throw WebSocketAddressError("its port is not a number from 1 to 65535") }
        return port
    }
}

/// Why a text is not a WebSocket address. Holds nothing of the text, which may have a password in it.
public struct WebSocketAddressError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

private func isHostCharacter(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
}

/// Corresponds to `inet_pton`.
func isNumericAddress(_ host: String, family: Int32) -> Bool {
    var address = in6_addr()
    return unsafe inet_pton(family, host, &address) == 1
}

func isNumericAddress(_ host: String) -> Bool {
    isNumericAddress(host, family: AF_INET) || isNumericAddress(host, family: AF_INET6)
}

private func percentDecoded(_ text: Substring.UTF8View) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            decoded.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit)
        else { return nil }
        decoded.append(high << 4 | low)
    }
    return decoded
}
