internal import System
internal import WebConfiguration

/// Checks passwords on the threads of their connections: one at a time for a client, two in all, clients in the order
/// in which they came. The last verdicts are remembered.
final class PasswordChecks: Sendable {
    private static let maximumAtOnce = 2
    /// Verdicts of each kind that are remembered: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100

    private let patience: Duration
    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Monitor(State())

    private struct State {
        /// The checks with each verdict, the oldest first.
        var remembered: [Bool: [PasswordCheck]] = [:]
        /// Clients in the order in which they came: the checks of the first ones run, the others wait.
        var turns: [[UInt8]] = []

        func known(_ check: PasswordCheck) -> Bool? { remembered.first { $0.value.contains(check) }?.key }

        mutating func remember(_ check: PasswordCheck, _ isRight: Bool) {
            guard known(check) == nil else { return }
            remembered[isRight, default: []].append(check)
            if remembered[isRight, default: []].count > maximumRemembered { remembered[isRight]?.removeFirst() }
        }
    }

    /// - Parameter patience: how long a password waits for others of its client. Guesses that are told at once would
    ///   come again at once, and take the processor from the checks.
    init(patience: Duration = .seconds(3), run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) {
        self.patience = patience
        self.run = run
    }

    /// Checks that run or wait.
    var waiting: Int { state.read { $0.turns.count } }

    /// Whether a password is right, which blocks as long as its check takes and those before it; `nil` when others of
    /// the client take too long.
    func verdict(on check: PasswordCheck, of client: [UInt8]) -> Bool? {
        var known: Bool?
        let hasTurn: Void? = state.wait(until: monotonicTime() + patience) { state in
            known = state.known(check)
            if known == nil, state.turns.contains(client) { return nil }
            if known == nil { state.turns.append(client) }
            return ()
        }
        if known != nil || hasTurn == nil { return known }
        _ = state.wait { $0.turns.prefix(Self.maximumAtOnce).contains(client) ? true : nil }
        // Another client may have asked for the same meanwhile.
        let isRight = state.read { $0.known(check) } ?? run(check)
        state.change { state in
            state.turns.removeAll { $0 == client }
            state.remember(check, isRight)
        }
        return isRight
    }
}
