import Synchronization

/// Whether anybody still reads what the feeds bring, for `--feed.pause-when-unused`.
final class FeedUsage: Sendable {
    private let state: Mutex<State>
    private let limit: Duration

    private struct State {
        var lastReadAt: Duration
        var isPaused = false
    }

    enum Change: Equatable {
        case pause, resume
    }

    /// - Parameter limit: how long nobody may read before feeds are paused; zero: no limit.
    init(limit: Duration, at now: Duration) {
        self.limit = limit
        state = Mutex(State(lastReadAt: now))
    }

    /// Somebody has read.
    func read(at now: @autoclosure () -> Duration) -> Change? {
        guard limit > .zero else { return nil }
        let now = now()
        return state.withLock { state in
            state.lastReadAt = now
            guard state.isPaused else { return nil }
            state.isPaused = false
            return .resume
        }
    }

    /// Time has passed.
    func tick(at now: Duration) -> Change? {
        guard limit > .zero else { return nil }
        return state.withLock { state in
            guard !state.isPaused, now - state.lastReadAt >= limit else { return nil }
            state.isPaused = true
            return .pause
        }
    }

    /// When ``tick(at:)`` may have something to say.
    var nextTickAt: Duration? {
        guard limit > .zero else { return nil }
        return state.withLock { $0.isPaused ? nil : $0.lastReadAt + limit }
    }
}
