internal import HTTPServer

extension HTTPAccess.Users {
    /// Users with bcrypt hashes; `nil` without users.
    init?(_ hashes: [[UInt8]: BcryptHash]) {
        if hashes.isEmpty { return nil }
        self.init(hashes: hashes.mapValues(\.text)) { hashes.isRight($0) }
    }
}

extension [[UInt8]: BcryptHash] {
    /// Whether the password is the user's. Every rejection takes as many bcrypt rounds as the most expensive hash, to
    /// hide which users exist, or none if the password has a NUL.
    func isRight(
        _ credentials: Credentials,
        _ isHash: (_ hash: BcryptHash, _ password: [UInt8]) -> Bool = { $0.isHash(of: $1) }
    ) -> Bool {
        let highestCost = values.map(\.cost).max() ?? 0
        guard let hash = self[credentials.user] else {
            _ = isHash(.decoy(cost: highestCost), credentials.password)
            return false
        }
        if isHash(hash, credentials.password) { return true }
        // Each cost doubles the rounds: 2ⁿ + (2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹) = 2ᵐ.
        for missing in hash.cost..<highestCost { _ = isHash(.decoy(cost: missing), credentials.password) }
        return false
    }
}
