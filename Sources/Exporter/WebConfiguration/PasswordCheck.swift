internal import Bytes

/// Whether a password is a user's. A rejection takes as many rounds of bcrypt as the most expensive hash there is, for
/// any user, so that its time does not tell which users there are.
package struct PasswordCheck: Sendable, Equatable {
    let user: [UInt8]
    let password: [UInt8]
    /// The user's hash; `nil`: there is no such user.
    let hash: BcryptHash?
    /// The highest cost of all users' hashes.
    let highestCost: Int

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    package func run(_ isHash: (_ hash: BcryptHash, _ password: [UInt8]) -> Bool = { $0.isHash(of: $1) }) -> Bool {
        guard let hash else {
            _ = isHash(.decoy(cost: highestCost), password)
            return false
        }
        if isHash(hash, password) { return true }
        // Each cost has twice the rounds of the one below: 2ⁿ + (2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹) = 2ᵐ.
        for missing in hash.cost..<highestCost { _ = isHash(.decoy(cost: missing), password) }
        return false
    }
}

extension PasswordCheck {
    /// The check of an `Authorization: Basic …` field (RFC 7617); `nil` for another form, or none. The scheme's case
    /// does not count; the user ends at the first colon.
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
