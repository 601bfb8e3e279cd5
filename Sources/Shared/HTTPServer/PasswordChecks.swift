internal import System

/// Checks passwords on their connections' threads: one per client at a time, two in all, and clients take turns.
final class PasswordChecks: Sendable {
    private let turns: RequestLimit
    private let state = Monitor(State())

    private struct Check: Equatable {
        let credentials: Credentials
        let users: HTTPAccess.Users
    }

    private struct State {
        /// Checks by verdict, oldest first.
        var remembered: [Bool: [Check]] = [:]

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
    init(patience: Duration = HTTPLimits.passwordPatience) {
        turns = RequestLimit(
            HTTPLimits.passwordChecks, perClient: 1, patience: patience, isPatientWithOthers: true,
            rejection: HTTPResponse(status: 429, line: "other passwords from this address are being checked"))
    }

    /// Number of checks that run or wait.
    var count: Int { turns.count }

    /// Whether a password is right; blocks for its check and earlier ones. Throws if the client's others take too long.
    func verdict(
        on credentials: Credentials, among users: HTTPAccess.Users, for holder: any RequestLimit.Holder
    ) throws(HTTPResponse.Rejection) -> Bool {
        let check = Check(credentials: credentials, users: users)
        if let known = state.read({ $0.known(check) }) { return known }
        guard let turn = turns.take(for: holder) else { throw .init(turns.rejection) }
        defer { turn.giveBack() }
        // Another request may have sent the same password meanwhile.
        if let known = state.read({ $0.known(check) }) { return known }
        let isRight = users.isRight(credentials)
        state.change { $0.remember(check, isRight) }
        return isRight
    }
}
