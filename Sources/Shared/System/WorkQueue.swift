/// Runs work that may hang on its own thread, one item at a time. The thread exists only while there is work.
public final class WorkQueue: Sendable {
    private let name: String
    /// Maximum number of waiting items.
    private let limit: Int
    private let state = Monitor(State())

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var hasThread = false
    }

    public init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Queues work; returns `false` if the queue is full or no thread can be started. Any thread; never blocks.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            guard state.waiting.count < limit else { return false }
            if !state.hasThread {
                state.hasThread = (try? ServiceThread(name: name, body: workUntilEmpty)) != nil
            }
            if state.hasThread { state.waiting.append(work) }
            return state.hasThread
        }
    }

    /// Waits up to `limit` until all work is done.
    func waitUntilIdle(within limit: Duration) {
        _ = state.wait(until: monotonicTime() + limit) { $0.hasThread ? nil : true }
    }

    @Sendable private func workUntilEmpty() {
        while let work = takeNext() { work() }
    }

    /// Returns the next item; `nil` if there is none, after which the thread must end.
    private func takeNext() -> (@Sendable () -> Void)? {
        state.change { state in
            state.hasThread = !state.waiting.isEmpty
            return state.hasThread ? state.waiting.removeFirst() : nil
        }
    }
}
