/// Work that may hang, done on a thread of its own, one piece after another. The thread exists while there is work.
public final class WorkQueue: Sendable {
    private let name: String
    /// Pieces that may wait.
    private let limit: Int
    private let state = Monitor(State())

    private struct State {
        /// The oldest first.
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

    /// Returns false and drops the work when too much waits, or when there can be no thread; any thread, never blocks.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            guard state.waiting.count < limit else { return false }
            guard state.isWorking || (try? ServiceThread(name: name, body: workUntilEmpty)) != nil else { return false }
            state.isWorking = true
            state.waiting.append(work)
            return true
        }
    }

    /// Waits until all work is done, for so long at most.
    func waitUntilIdle(within limit: Duration) {
        _ = state.wait(until: monotonicTime() + limit) { $0.isWorking ? nil : true }
    }

    @Sendable private func workUntilEmpty() {
        while let work = state.change({ $0.next() }) { work() }
    }
}
