internal import System

/// Checks passwords on their connections' threads, in order of arrival: one per client at a time, two in all.
final class PasswordChecks: Sendable {
    private let patience: Duration
    private let state = Monitor(State())

    private struct Check: Equatable {
        let credentials: Credentials
        let users: HTTPAccess.Users
    }

    private struct State {
        /// Checks by verdict, oldest first.
        var remembered: [Bool: [Check]] = [:]
        /// Clients in order of arrival: the checks of the first ``HTTPLimits/passwordChecks`` run, the others wait.
        var turns: [[UInt8]] = []

        func known(_ check: Check) -> Bool? { remembered.first { $0.value.contains(check) }?.key }

        mutating func remember(_ check: Check, _ isRight: Bool) {
            guard known(check) == nil else { return }
            remembered[isRight, default: []].append(check)
            if remembered[isRight, default: []].count > HTTPLimits.rememberedPasswords {
                remembered[isRight]?.removeFirst()
            }
        }
    }

    /// - Parameter patience: how long a password waits for others of its client. If guesses were rejected at once,
    ///   more would follow at once and starve the checks of CPU time.
    init(patience: Duration = HTTPLimits.passwordPatience) { self.patience = patience }

    /// Number of checks that run or wait.
    var waiting: Int { state.read { $0.turns.count } }

    /// Whether a password is right; blocks for its check and earlier ones. `nil` if the client's others take too long.
    func verdict(on credentials: Credentials, among users: HTTPAccess.Users, of client: [UInt8]) -> Bool? {
        let check = Check(credentials: credentials, users: users)
        var known: Bool?
        let hasTurn: Void? = state.wait(until: monotonicTime() + patience) { state in
            known = state.known(check)
            if known == nil, state.turns.contains(client) { return nil }
            if known == nil { state.turns.append(client) }
            return ()
        }
        if known != nil || hasTurn == nil { return known }
        _ = state.wait { $0.turns.prefix(HTTPLimits.passwordChecks).contains(client) ? true : nil }
        // Another client may have sent the same password meanwhile.
        let isRight = state.read { $0.known(check) } ?? users.isRight(credentials)
        state.change { state in
            state.turns.removeAll { $0 == client }
            state.remember(check, isRight)
        }
        return isRight
    }
}
