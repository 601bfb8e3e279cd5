internal import Synchronization
internal import System

/// Answers password questions on a thread of its own, one at a time, and remembers the answers.
final class PasswordChecker: Sendable {
    /// Answers remembered, of each kind: wrong guesses cannot push out the right passwords.
    static let memory = 100
    /// Questions that may wait.
    static let room = 64

    private let check: @Sendable (PasswordQuestion) -> Bool
    private let state = Mutex(State())

    /// Called with nil when there will be no answer.
    typealias Reply = @Sendable (Bool?) -> Void

    private struct State {
        var right = RecentSet<PasswordQuestion>(capacity: PasswordChecker.memory)
        var wrong = RecentSet<PasswordQuestion>(capacity: PasswordChecker.memory)
        var waiting: [(question: PasswordQuestion, reply: Reply)] = []
        /// Of the question that is being answered.
        var current: Reply?
        /// A thread is answering, and ends when nothing waits.
        var isWorking = false
        var isStopped = false

        func answer(to question: PasswordQuestion) -> Bool? {
            if right.contains(question) { return true }
            return wrong.contains(question) ? false : nil
        }
    }

    init(check: @escaping @Sendable (PasswordQuestion) -> Bool = { $0.answer() }) {
        self.check = check
    }

    /// The answer if it is remembered.
    func known(_ question: PasswordQuestion) -> Bool? {
        state.withLock { $0.answer(to: question) }
    }

    /// Has the question answered. False when too many wait or there is no thread for it; then `reply` is never called.
    func ask(_ question: PasswordQuestion, reply: @escaping Reply) -> Bool {
        let (isTaken, needsThread) = state.withLock { state in
            guard !state.isStopped, state.waiting.count < Self.room else { return (false, false) }
            state.waiting.append((question, reply))
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
        while let (question, known) = next() {
            let answer = known ?? check(question)
            finish(question, answer)?(answer)
        }
    }

    /// Another may have asked the same before.
    private func next() -> (question: PasswordQuestion, known: Bool?)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            let (question, reply) = state.waiting.removeFirst()
            state.current = reply
            return (question, state.answer(to: question))
        }
    }

    /// The reply to give, unless `stop` has given it.
    private func finish(_ question: PasswordQuestion, _ answer: Bool) -> Reply? {
        state.withLock { state in
            if answer { state.right.insert(question) } else { state.wrong.insert(question) }
            return state.current.take()
        }
    }

    /// Replies nil to all that wait, and to all questions from now on. The thread ends after the check that it is in.
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
