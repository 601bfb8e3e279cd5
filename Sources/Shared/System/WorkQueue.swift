/// Runs work that may hang on its own thread, one item at a time. The thread exists only while there is work.
public final class WorkQueue: Sendable {
    private let name: String
    /// Maximum number of waiting items.
    private let limit: Int
    private let state = Monitor(State())

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isWorking = false

        mutating func next() -> (@Sendable () -> Void)? {
            isWorking = !waiting.isEmpty
            return isWorking ? waiting.removeFirst() : nil
        }
    }

    public init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Queues work; returns `false` if the queue is full or no thread can be started. Any thread; never blocks.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            guard state.waiting.count < limit else { return false }
            guard state.isWorking || (try? ServiceThread(name: name, body: workUntilEmpty)) != nil else { return false }
            state.isWorking = true
            state.waiting.append(work)
            return true
        }
    }

    /// Waits up to `limit` until all work is done.
    func waitUntilIdle(within limit: Duration) {
        _ = state.wait(until: monotonicTime() + limit) { $0.isWorking ? nil : true }
    }

    @Sendable private func workUntilEmpty() {
        while let work = state.change({ $0.next() }) { work() }
    }
}
