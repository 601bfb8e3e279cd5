import AirQuality
import Bytes
import FeedProtocol
import System

/// The log of a feed's connection: changes of its state, not every attempt, so that a flapping feed cannot fill it.
struct FeedLog: Sendable {
    /// Disconnects logged at once; after them, one per ``rest``.
    static let burst = 10
    static let rest = Duration.seconds(360)
    static let reminder = Duration.seconds(3600)

    private let label: String
    private let logger: Logger
    private var isConnected = false
    /// When the first attempt failed; `nil` if none has since the feed was connected or paused.
    private var downSince: Duration?
    /// The last state logged: the reason while the feed is down; empty after a requested disconnect.
    private var said = ""
    private var saidAt = Duration.zero
    private var disconnects = TokenBucket(burst, each: rest)

    init(label: String, logger: Logger) {
        self.label = label
        self.logger = logger
    }

    /// - Parameter now: monotonic time.
    mutating func note(_ event: FeedEvent, at now: Duration) {
        switch event {
        case .connecting: write(downSince == nil ? .info : .debug, "Connecting to feed")
        case .connected(let source):
            isConnected = true
            downSince = nil
            tell("connected", .info, "Feed connected", source.map { ["source": $0.name] } ?? [:], at: now)
        case .disconnected(let reason, _) where reason == .requested || reason == .paused:
            isConnected = false
            said = ""
            write(.info, "Feed disconnected", ["reason": reason.rawValue])
        case .disconnected(let reason, let detail):
            let message = isConnected ? "Feed lost, reconnecting" : "Feed unreachable, retrying"
            var details: Logger.Metadata = ["reason": reason.rawValue, "err": detail]
            if let downSince {
                let time = Duration.seconds((now - downSince).components.seconds)
                details = details + ["down_for": time.prometheusText]
            }
            isConnected = false
            downSince = downSince ?? now
            tell(reason.rawValue, .warning, message, details, at: now)
        case .explained: return
        case .paused:
            isConnected = false
            downSince = nil
            tell("paused", .info, "Feed paused: no scrapes", at: now)
        case .resumed: write(.info, "Feed resumed")
        }
    }

    private func write(_ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:]) {
        logger.log(level: level, message, metadata: ["feed": label] + details)
    }

    /// Logs a new state, or one that has lasted an hour; others only at debug level.
    private mutating func tell(
        _ state: String, _ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:], at now: Duration
    ) {
        let isNews = said != state || now - saidAt >= Self.reminder
        guard isNews, downSince == nil || disconnects.take(at: now) else {
            return write(.debug, message, details)
        }
        said = state
        saidAt = now
        write(level, message, details)
    }
}
