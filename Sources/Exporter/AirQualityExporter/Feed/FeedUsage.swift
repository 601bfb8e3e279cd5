import Synchronization

/// Whether anybody still reads what the feeds bring, for `--feed.pause-when-unused`.
final class FeedUsage: Sendable {
    enum Change { case pause, resume }

    private struct State {
        var lastReadAt: Duration
        var isPaused = false
    }

    private let limit: Duration
    private let state: Mutex<State>

    /// - Parameter limit: how long nobody may read before feeds are paused.
    init(limit: Duration, at now: Duration) {
        self.limit = limit
        state = Mutex(State(lastReadAt: now))
    }

    /// Somebody has read.
    func read(at now: Duration) -> Change? {
        state.withLock { state in
            state.lastReadAt = now
            guard state.isPaused else { return nil }
            state.isPaused = false
            return .resume
        }
    }

    /// Time has passed.
    func tick(at now: Duration) -> Change? {
        state.withLock { state in
            guard !state.isPaused, now - state.lastReadAt >= limit else { return nil }
            state.isPaused = true
            return .pause
        }
    }
}
