internal import System
internal import WebConfiguration

/// Checks passwords on their connections' threads, in order of arrival: one per client at a time, two in all.
final class PasswordChecks: Sendable {
    private static let maximumAtOnce = 2
    /// Number of verdicts remembered of each kind, so that wrong guesses cannot evict right passwords.
    static let maximumRemembered = 100

    private let patience: Duration
    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Monitor(State())

    private struct State {
        /// Checks by verdict, oldest first.
        var remembered: [Bool: [PasswordCheck]] = [:]
        /// Clients in order of arrival: the checks of the first `maximumAtOnce` run, the others wait.
        var turns: [[UInt8]] = []

        func known(_ check: PasswordCheck) -> Bool? { remembered.first { $0.value.contains(check) }?.key }

        mutating func remember(_ check: PasswordCheck, _ isRight: Bool) {
            guard known(check) == nil else { return }
            remembered[isRight, default: []].append(check)
            if remembered[isRight, default: []].count > maximumRemembered { remembered[isRight]?.removeFirst() }
        }
    }

    /// - Parameter patience: how long a password waits for others of its client. If guesses were rejected at once,
    ///   more would follow at once and starve the checks of CPU time.
    init(patience: Duration = .seconds(3), run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) {
        self.patience = patience
        self.run = run
    }

    /// Number of checks that run or wait.
    var waiting: Int { state.read { $0.turns.count } }

    /// Whether a password is right; blocks for its check and earlier ones. `nil` if the client's others take too long.
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
        // Another client may have sent the same password meanwhile.
        let isRight = state.read { $0.known(check) } ?? run(check)
        state.change { state in
            state.turns.removeAll { $0 == client }
            state.remember(check, isRight)
        }
        return isRight
    }
}
