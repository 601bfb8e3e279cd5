internal import WebConfiguration

/// Whether a password is that of a user.
///
/// A rejection takes as many rounds of bcrypt as the most expensive hash there is, for any user, so that its time does
/// not tell which users there are.
struct PasswordCheck: Sendable, Equatable {
    var credentials: BasicCredentials
    /// The user's hash; `nil`: there is no such user.
    var hash: String?
    /// The highest cost of all users' hashes.
    var highestCost: Int

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    func run(_ verify: (_ password: [UInt8], _ hash: String) -> Bool = Bcrypt.verify) -> Bool {
        let password = credentials.password
        guard let hash, let cost = Bcrypt.cost(of: hash) else {
            _ = verify(password, Bcrypt.decoy(cost: highestCost))
            return false
        }
        if verify(password, hash) { return true }
        // Each cost has twice the rounds of the one below: 2ⁿ + (2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹) = 2ᵐ.
        for missing in cost..<max(cost, highestCost) { _ = verify(password, Bcrypt.decoy(cost: missing)) }
        return false
    }
}
