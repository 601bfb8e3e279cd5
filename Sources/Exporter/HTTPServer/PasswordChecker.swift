internal import Synchronization
internal import System
internal import WebConfiguration

/// Checks passwords on a thread of its own, one at a time, and remembers the verdicts.
final class PasswordChecker: Sendable {
    /// Verdicts remembered, of each kind: wrong guesses cannot push out the right passwords.
    static let maximumRemembered = 100
    static let maximumWaiting = 64

    private let run: @Sendable (CredentialCheck) -> Bool
    private let state = Mutex(State())

    /// Called with nil when there will be no verdict.
    typealias Reply = @Sendable (Bool?) -> Void

    private struct State {
        var right = RecentSet<CredentialCheck>(capacity: PasswordChecker.maximumRemembered)
        var wrong = RecentSet<CredentialCheck>(capacity: PasswordChecker.maximumRemembered)
        var waiting: [(check: CredentialCheck, reply: Reply)] = []
        /// Of the check under way.
        var current: Reply?
        /// There is a thread, which ends when nothing waits.
        var isWorking = false
        var isStopped = false

        func verdict(of check: CredentialCheck) -> Bool? {
            if right.contains(check) { return true }
            return wrong.contains(check) ? false : nil
        }
    }

    init(run: @escaping @Sendable (CredentialCheck) -> Bool = { $0.run() }) {
        self.run = run
    }

    /// The verdict if it is remembered.
    func known(_ check: CredentialCheck) -> Bool? {
        state.withLock { $0.verdict(of: check) }
    }

    /// Queues the check. False when too many wait; then `reply` is never called.
    func submit(_ check: CredentialCheck, reply: @escaping Reply) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            guard !state.isStopped, state.waiting.count < Self.maximumWaiting else { return (false, false) }
            state.waiting.append((check, reply))
            defer { state.isWorking = true }
            return (true, !state.isWorking)
        }
        if needsThread { startThread() }
        return isTaken
    }

    private func startThread() {
        do {
            _ = try ServiceThread(name: "http-password") { [self] in work() }
        } catch {
            let replies = state.withLock { state in
                state.isWorking = false
                defer { state.waiting = [] }
                return state.waiting.map(\.reply)
            }
            for reply in replies { reply(nil) }
        }
    }

    private func work() {
        while let (check, known) = next() {
            let verdict = known ?? run(check)
            finish(check, verdict)?(verdict)
        }
    }

    /// The same may have been checked while this waited.
    private func next() -> (check: CredentialCheck, known: Bool?)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            let (check, reply) = state.waiting.removeFirst()
            state.current = reply
            return (check, state.verdict(of: check))
        }
    }

    /// The reply to give, unless `stop` has given it.
    private func finish(_ check: CredentialCheck, _ verdict: Bool) -> Reply? {
        state.withLock { state in
            if verdict { state.right.insert(check) } else { state.wrong.insert(check) }
            return state.current.take()
        }
    }

    /// Replies nil to all that wait, and takes no more. The thread ends after the check that it is in.
    func stop() {
        let replies = state.withLock { state in
            state.isStopped = true
            defer {
                state.waiting = []
                state.current = nil
            }
            return [state.current].compactMap { $0 } + state.waiting.map(\.reply)
        }
        for reply in replies { reply(nil) }
    }
}

/// Whether a password is that of a user.
struct CredentialCheck: Sendable, Hashable {
    let user: [UInt8]
    let password: [UInt8]
    let hash: String
    /// An unknown user is refused, which takes as long.
    let isKnownUser: Bool

    init(credentials: BasicCredentials, hash: String, isKnownUser: Bool) {
        user = credentials.user
        password = credentials.password
        self.hash = hash
        self.isKnownUser = isKnownUser
    }

    /// Takes as long as bcrypt does: tens of milliseconds and up.
    func run() -> Bool {
        Bcrypt.verify(password: password, hash: hash) && isKnownUser
    }
}

/// The elements that were inserted last.
struct RecentSet<Element: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var elements: Set<Element> = []
    /// The oldest first.
    private var order: [Element] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    func contains(_ element: Element) -> Bool {
        elements.contains(element)
    }

    mutating func insert(_ element: Element) {
        guard elements.insert(element).inserted else { return }
        order.append(element)
        if order.count > capacity { elements.remove(order.removeFirst()) }
    }
}
