/// Whether a password is a user's. A rejection takes as many rounds of bcrypt as the most expensive hash there is, for
/// any user, so that its time does not tell which users there are.
package struct PasswordCheck: Sendable, Equatable {
    package let credentials: BasicCredentials
    /// The user's hash; `nil`: there is no such user.
    let hash: BcryptHash?
    /// The highest cost of all users' hashes.
    let highestCost: Int

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    package func run(_ isHash: (_ hash: BcryptHash, _ password: [UInt8]) -> Bool = { $0.isHash(of: $1) }) -> Bool {
        let password = credentials.password
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
    /// Returns `nil` for an `Authorization` field without credentials, or none.
    package init?(authorization: String?, users: [[UInt8]: BcryptHash]) {
        guard let credentials = authorization.flatMap(BasicCredentials.init(authorization:)) else { return nil }
        self.credentials = credentials
        hash = users[credentials.user]
        highestCost = users.values.map(\.cost).max() ?? 0
    }
}
