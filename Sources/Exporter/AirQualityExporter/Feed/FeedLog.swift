import AirQuality
import Bytes
import CommandLine
import FeedOptions
import FeedProtocol
import JSON
import System
import WebSocket

/// The log of a feed: changes of its connection's state, not every attempt, and why readings are rejected.
///
/// A feed that goes up and down all the time, or sends what is rejected, cannot fill the log.
struct FeedLog: Sendable {
    /// Disconnects that are told of at once; a further one comes with every ``rest``.
    static let burst = 10
    static let rest = Duration.seconds(360)
    static let reminder = Duration.seconds(3600)

    struct Entry: Equatable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata
    }

    private enum State: Equatable {
        case unknown, connected, paused
        case failing(DisconnectReason)
    }

    private let label: String
    private var state = State.unknown
    /// When the first attempt failed.
    private var downSince: Duration?
    /// The last state that was told.
    private var said = State.unknown
    private var saidAt = Duration.zero
    /// When the ``rest`` of all disconnects that were told of will be over.
    private var restsUntil = Duration.zero
    private var explanations: [RejectionReason?: LineLimit] = [:]
    /// The words of the server that were told since a time.
    private var words: Set<String> = []
    private var wordsSince = Duration.zero

    init(label: String) { self.label = label }

    private var isFailing: Bool {
        if case .failing = state { true } else { false }
    }

    /// - Parameter now: by the monotonic clock.
    mutating func entry(for event: FeedEvent, at now: Duration) -> Entry? {
        switch event {
        case .connecting: return entry(isFailing ? .debug : .info, "Connecting to feed")
        case .connected(let source):
            downSince = nil
            return entry(.connected, .info, "Feed connected", source.map { ["source": $0.name] } ?? [:], at: now)
        case .disconnected(let reason, _) where reason == .requested || reason == .paused:
            return entry(.info, "Feed disconnected", ["reason": reason.rawValue])
        case .disconnected(let reason, let detail):
            let message = state == .connected ? "Feed lost, reconnecting" : "Feed unreachable, retrying"
            var details: Logger.Metadata = ["reason": reason.rawValue, "err": detail]
            if let downSince {
                details += ["down_for": Duration.seconds((now - downSince).components.seconds).prometheusText]
            }
            downSince = downSince ?? now
            return entry(.failing(reason), .warning, message, details, at: now)
        case .explained: return nil
        case .paused:
            downSince = nil
            return entry(.paused, .info, "Feed paused: no scrapes", at: now)
        case .resumed: return entry(.info, "Feed resumed")
        }
    }

    /// Whether it is time to tell that messages give no readings: each reason at first, then at most hourly, and so
    /// each of a server's own words, ``burst`` of them an hour.
    ///
    /// - Parameter reason: `nil`: messages are without readings.
    mutating func isDue(_ reason: RejectionReason?, words text: String? = nil, at now: Duration) -> Bool {
        if now - wordsSince >= Self.reminder {
            words = []
            wordsSince = now
        }
        if let text { return words.count < Self.burst && words.insert(text).inserted }
        return explanations[reason, default: LineLimit(Self.reminder)].suppressed(before: now) != nil
    }

    private func entry(_ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:]) -> Entry {
        Entry(level: level, message: message, metadata: ["feed": label] + details)
    }

    /// The entry for a new state, or for one that has lasted an hour; else it is worth a debug line.
    private mutating func entry(
        _ new: State, _ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:], at now: Duration
    ) -> Entry {
        state = new
        let isNews = said != new || now - saidAt >= Self.reminder
        guard isNews, !isFailing || restsUntil <= now + Self.rest * (Self.burst - 1) else {
            return entry(.debug, message, details)
        }
        said = new
        saidAt = now
        if isFailing { restsUntil = max(restsUntil, now) + Self.rest }
        return entry(level, message, details)
    }
}
