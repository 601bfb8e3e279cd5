internal import Bytes

/// User and password of an `Authorization: Basic …` header (RFC 7617), as bytes.
public struct BasicCredentials: Sendable, Hashable {
    public var user: [UInt8]
    public var password: [UInt8]
}

extension BasicCredentials {
    /// Returns `nil` for another form. The scheme's case does not count; the user ends at the first colon.
    public init?(authorization: String) {
        let scheme = Array("basic ".utf8)
        let bytes = Array(authorization.utf8)
        guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
            let decoded = decodeBase64(bytes[scheme.count...]), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = Array(decoded[..<colon])
        password = Array(decoded[(colon + 1)...])
    }
}
