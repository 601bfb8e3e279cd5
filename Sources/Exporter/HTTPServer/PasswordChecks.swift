internal import System
internal import WebConfiguration

/// Checks passwords on the threads of their connections: one at a time for a client, two in all, clients in the order
/// in which they came. The last verdicts are remembered.
final class PasswordChecks: Sendable {
    enum Verdict: Equatable {
        case right
        case wrong
        /// Another password of the client is being checked.
        case busy
    }

    private static let maximumAtOnce = 2
    /// Verdicts of each kind that are remembered: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100

    private let run: @Sendable (PasswordCheck) -> Bool
    private let state = Monitor(State())

    private struct State {
        /// The checks with each verdict, the oldest first.
        var remembered: [Verdict: [PasswordCheck]] = [:]
        /// One of each client, in the order in which they came: the first ones run, the others wait.
        var turns: [(client: [UInt8], check: PasswordCheck)] = []

        func known(_ check: PasswordCheck) -> Verdict? { remembered.first { $0.value.contains(check) }?.key }

        mutating func end(_ check: PasswordCheck, of client: [UInt8], _ verdict: Verdict) {
            turns.removeAll { $0.client == client }
            guard known(check) == nil else { return }
            remembered[verdict, default: []].append(check)
            if remembered[verdict, default: []].count > maximumRemembered { remembered[verdict]?.removeFirst() }
        }
    }

    private enum Step {
        case over(Verdict)
        case check
    }

    init(run: @escaping @Sendable (PasswordCheck) -> Bool = { $0.run() }) { self.run = run }

    /// Checks that run or wait.
    var waiting: Int { state.read { $0.turns.count } }

    /// The verdict on a password, which blocks as long as its check takes and those before it.
    func verdict(on check: PasswordCheck, of client: [UInt8]) -> Verdict {
        var hasTurn = false
        let step = state.wait { state -> Step? in
            if !hasTurn {
                if let known = state.known(check) { return .over(known) }
                if let other = state.turns.first(where: { $0.client == client }) {
                    // The same password is waited for.
                    return other.check == check ? nil : .over(.busy)
                }
                state.turns.append((client, check))
                hasTurn = true
            }
            return state.turns.prefix(Self.maximumAtOnce).contains { $0.client == client } ? .check : nil
        }
        if case .over(let verdict) = step { return verdict }
        // Another client may have asked for the same meanwhile.
        let verdict = state.read { $0.known(check) } ?? (run(check) ? .right : .wrong)
        state.change { $0.end(check, of: client, verdict) }
        return verdict
    }
}
