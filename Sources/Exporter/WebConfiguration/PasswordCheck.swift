internal import Bytes

/// A check of a password. Every rejection takes as many bcrypt rounds as the most expensive hash, to hide which users
/// exist, or none if the password has a NUL.
package struct PasswordCheck: Sendable, Equatable {
    let user: [UInt8]
    let password: [UInt8]
    /// The user's hash; `nil` if there is no such user.
    let hash: BcryptHash?
    let highestCost: Int

    /// Returns whether the password is right. Takes tens of milliseconds or more.
    package func run(_ isHash: (_ hash: BcryptHash, _ password: [UInt8]) -> Bool = { $0.isHash(of: $1) }) -> Bool {
        guard let hash else {
            _ = isHash(.decoy(cost: highestCost), password)
            return false
        }
        if isHash(hash, password) { return true }
        // Each cost doubles the rounds: 2ⁿ + (2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹) = 2ᵐ.
        for missing in hash.cost..<highestCost { _ = isHash(.decoy(cost: missing), password) }
        return false
    }
}

extension PasswordCheck {
    /// Parses an `Authorization: Basic …` field (RFC 7617); `nil` if it is absent or has another form. The scheme is
    /// case-insensitive, and the user name ends at the first colon.
    package init?(authorization: String?, users: [[UInt8]: BcryptHash]) {
        let scheme = Array("basic ".utf8)
        let bytes = Array((authorization ?? "").utf8)
        guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
            let decoded = decodeBase64(bytes[scheme.count...]), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = Array(decoded[..<colon])
        password = Array(decoded[(colon + 1)...])
        hash = users[user]
        highestCost = users.values.map(\.cost).max() ?? 0
    }
}
