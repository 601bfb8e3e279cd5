internal import Bytes

/// The user and the password that a client sends.
public struct Credentials: Sendable, Hashable {
    public let user: [UInt8]
    public let password: [UInt8]

    public init(user: [UInt8], password: [UInt8]) {
        self.user = user
        self.password = password
    }

    /// Parses an `Authorization: Basic …` field (RFC 7617); `nil` if it is absent or has another form. The scheme is
    /// case-insensitive, and the user name ends at the first colon.
    package init?(authorization: String?) {
        let scheme = Array("basic ".utf8)
        let bytes = Array((authorization ?? "").utf8)
        guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
            let decoded = decodeBase64(bytes[scheme.count...]), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        self.init(user: Array(decoded[..<colon]), password: Array(decoded[(colon + 1)...]))
    }
}
