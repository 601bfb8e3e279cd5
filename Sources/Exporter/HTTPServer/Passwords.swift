internal import Synchronization
internal import WebConfiguration

/// Whether a password is that of a user.
///
/// A refusal takes as many rounds of bcrypt as the most expensive hash there is, for any user, so that its time
/// does not tell which users there are.
struct PasswordCheck: Sendable, Hashable {
    var credentials: BasicCredentials
    /// Nil: there is no such user.
    var hash: String?
    /// Of all users' hashes.
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

/// The verdicts on passwords that were checked last.
final class PasswordVerdicts: Sendable {
    /// Of each kind: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100

    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Mutex(State())

    private struct State {
        var right = RecentSet<PasswordCheck>(capacity: PasswordVerdicts.maximumRemembered)
        var wrong = RecentSet<PasswordCheck>(capacity: PasswordVerdicts.maximumRemembered)
    }

    init(run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) { self.run = run }

    /// The verdict if it is remembered.
    func known(_ check: PasswordCheck) -> Bool? {
        state.withLock { state in
            if state.right.contains(check) { return true }
            return state.wrong.contains(check) ? false : nil
        }
    }

    /// Checks the password unless the same was checked meanwhile; not on the serving thread.
    func verdict(on check: PasswordCheck) -> Bool {
        if let known = known(check) { return known }
        let isRight = run(check)
        state.withLock { state in
            if isRight { state.right.insert(check) } else { state.wrong.insert(check) }
        }
        return isRight
    }
}

/// The elements that were inserted last.
struct RecentSet<Element: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var elements: Set<Element> = []
    /// The oldest first.
    private var order: [Element] = []

    init(capacity: Int) { self.capacity = capacity }

    func contains(_ element: Element) -> Bool { elements.contains(element) }

    mutating func insert(_ element: Element) {
        guard elements.insert(element).inserted else { return }
        order.append(element)
        if order.count > capacity { elements.remove(order.removeFirst()) }
    }
}
