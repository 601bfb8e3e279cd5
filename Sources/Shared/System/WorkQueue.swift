/// Runs work that may hang on threads of its own. They are started by the first work, and live as long as the queue.
public final class WorkQueue: Sendable {
    private let name: String
    /// Maximum number of waiting items.
    private let limit: Int
    private let maximumThreads: Int
    private let state = Monitor(State())

    private struct State: Sendable {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        /// Threads without work.
        var idle = 0
        var isClosed = false
    }

    /// - Parameter threads: maximum number of items in progress; with 1, the oldest runs first and alone.
    public init(name: String, limit: Int, threads: Int = 1) {
        self.name = name
        self.limit = limit
        maximumThreads = threads
    }

    deinit { state.change { $0.isClosed = true } }

    /// Queues work; returns `false` if the queue is full or no thread can be started. Any thread; never blocks.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            guard state.waiting.count < limit else { return false }
            if state.idle <= state.waiting.count, state.threads < maximumThreads {
                let isStarted = (try? ServiceThread(name: name) { [state = self.state] in Self.serve(state) }) != nil
                state.threads += isStarted ? 1 : 0
                state.idle += isStarted ? 1 : 0
            }
            guard state.threads > 0 else { return false }
            state.waiting.append(work)
            return true
        }
    }

    /// Whether any thread could be started so far.
    var hasThreads: Bool { state.read(\.threads) > 0 }

    /// Waits up to `limit` until all work is done.
    func waitUntilIdle(within limit: Duration) {
        _ = state.wait(until: monotonicTime() + limit) { $0.waiting.isEmpty && $0.idle == $0.threads ? true : nil }
    }

    private static func serve(_ state: Monitor<State>) {
        while let work = takeNext(from: state) {
            work()
            state.change { $0.idle += 1 }
        }
    }

    /// Waits for the next item; `nil` when the queue is gone and nothing is left to do.
    private static func takeNext(from state: Monitor<State>) -> (@Sendable () -> Void)? {
        state.wait { state -> (@Sendable () -> Void)?? in
            if state.waiting.isEmpty { return state.isClosed ? .some(nil) : nil }
            state.idle -= 1
            return state.waiting.removeFirst()
        } ?? nil
    }
}
