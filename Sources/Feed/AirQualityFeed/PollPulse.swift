import Synchronization
import System

/// The regular duties of the loop of `poll`, also while a request is under way: signals, the watchdog, and all values
/// again each half minute, because clients would take silence for a lost feed.
final class PollPulse: Sendable {
    private static let repetition: Duration = .seconds(30)

    private let server: FeedServer
    private let latest: LatestAir
    private let loop = Heartbeat(of: "the main loop", limit: .seconds(90))
    private let state: Mutex<State>

    private struct State {
        var figures = PollFigures()
        var nextRepetition: Duration
    }

    init(_ server: FeedServer, _ latest: LatestAir) {
        self.server = server
        self.latest = latest
        state = Mutex(State(nextRepetition: monotonicTime() + Self.repetition))
    }

    /// Waits, and does what is due meanwhile. Only on the thread that has the signals.
    /// - Returns: false when a signal ends the program.
    func beat(until deadline: Duration) -> Bool {
        while true {
            loop.beat()
            let now = monotonicTime()
            let next = state.withLock(\.nextRepetition)
            if now >= next {
                for message in latest.all(at: now) { server.send(message) }
                state.withLock { $0.nextRepetition = now + Self.repetition }
            }
            guard server.wait(until: min(deadline, max(next, now))) else { return false }
            if monotonicTime() >= deadline { return true }
        }
    }

    func set(_ figures: PollFigures) { state.withLock { $0.figures = figures } }

    var figures: PollFigures { state.withLock(\.figures) }

    /// `nil` while the loop turns, else a line that says for how long it has not.
    var problem: String? { loop.problem }
}
