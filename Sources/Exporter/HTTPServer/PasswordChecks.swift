internal import Synchronization
internal import System
internal import WebConfiguration

/// Whether a password is that of a user.
///
/// A rejection takes as many rounds of bcrypt as the most expensive hash there is, for any user, so that its time does
/// not tell which users there are.
struct PasswordCheck: Sendable, Hashable {
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

/// Checks passwords on the threads of their connections: one at a time for a client, two in all, clients in the order
/// in which they came. The last verdicts are remembered.
final class PasswordChecks: Sendable {
    enum Verdict: Equatable {
        case right
        case wrong
        /// Another password of the client is being checked.
        case busy
    }

    static let maximumAtOnce = 2
    /// Verdicts of each kind that are remembered: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100

    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Monitor(State())

    private struct State {
        var right = RecentSet<PasswordCheck>(capacity: PasswordChecks.maximumRemembered)
        var wrong = RecentSet<PasswordCheck>(capacity: PasswordChecks.maximumRemembered)
        /// One of each client, in the order in which they came: the first ones run, the others wait.
        var turns: [(client: [UInt8], check: PasswordCheck)] = []

        func known(_ check: PasswordCheck) -> Verdict? {
            if right.contains(check) { return .right }
            return wrong.contains(check) ? .wrong : nil
        }

        func place(of client: [UInt8]) -> Int? { turns.firstIndex { $0.client == client } }
    }

    private enum Turn {
        /// The verdict is known without a check of one's own.
        case over(Verdict)
        case own
        /// The same password of the same client is being checked.
        case same
    }

    init(run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) { self.run = run }

    /// Checks that run or wait.
    var waiting: Int { state.read { $0.turns.count } }

    /// The verdict on a password, which blocks as long as its check takes and those before it.
    func verdict(on check: PasswordCheck, of client: [UInt8]) -> Verdict {
        let turn = state.change { state -> Turn in
            if let known = state.known(check) { return .over(known) }
            guard let place = state.place(of: client) else {
                state.turns.append((client, check))
                return .own
            }
            return state.turns[place].check == check ? .same : .over(.busy)
        }
        switch turn {
        case .over(let verdict): return verdict
        case .own: return runInTurn(check, of: client)
        case .same:
            return state.wait { state in
                state.known(check) ?? (state.place(of: client) == nil ? .busy : nil)
            } ?? .busy
        }
    }

    private func runInTurn(_ check: PasswordCheck, of client: [UInt8]) -> Verdict {
        // Another client may have asked for the same meanwhile.
        let known = state.wait { state -> Verdict?? in
            guard let place = state.place(of: client), place < Self.maximumAtOnce else { return nil }
            return .some(state.known(check))
        }
        let verdict = (known ?? nil) ?? (run(check) ? .right : .wrong)
        state.change { state in
            if verdict == .right { state.right.insert(check) } else { state.wrong.insert(check) }
            state.turns.removeAll { $0.client == client }
        }
        return verdict
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
