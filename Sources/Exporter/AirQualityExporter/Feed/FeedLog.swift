import AirQuality
import Bytes
import System
import WebSocket

/// The log of a feed's connection: changes of its state, and what lasts each quarter of an hour, so that the last
/// quarter always says what is wrong and since when, and a feed cannot fill the log. Times are monotonic.
struct FeedLog: Sendable {
    static let reminder = Duration.seconds(900)
    /// Disconnects logged one by one; one more each ``reminder``. Beyond that the feed counts as unstable.
    static let burst = 4
    /// An unstable feed is stable again after a connection of this length.
    static let stableTime = Duration.seconds(60)

    private let label: String
    private let logger: Logger
    private var isConnected = false
    private var connectedAt = Duration.zero
    /// When the first attempt failed, or the connection was lost; `nil` if the feed is connected or paused.
    private var downSince: Duration?
    private var attempts = 0
    private var disconnects = TokenBucket(burst, each: reminder)
    /// Disconnects since the feed became unstable, and when that was; `nil` if it is stable.
    private var unstable: (since: Duration, disconnects: Int)?
    /// The last state logged, and when; empty after a requested disconnect.
    private var lastState = ""
    private var loggedAt = Duration.zero

    init(label: String, logger: Logger) {
        self.label = label
        self.logger = logger
    }

    /// - Parameter serverWords: what the server said last before it closed the connection.
    mutating func note(_ event: WebSocketEvent, serverWords: String? = nil, at now: Duration) {
        switch event {
        case .connecting:
            attempts += 1
            write(downSince == nil ? .info : .debug, "Connecting to feed")
        case .connected(let fields, _):
            noteConnected(FeedSource(fields), at: now)
        case .disconnected(let reason, _, _, _) where reason == .requested || reason == .paused:
            isConnected = false
            lastState = ""
            write(.info, "Feed disconnected", ["reason": reason.rawValue])
        case .disconnected(let reason, let detail, _, _):
            noteDisconnected(reason, detail, serverWords, at: now)
        case .paused:
            isConnected = false
            downSince = nil
            write(.info, "Feed paused: no scrapes")
        case .resumed: write(.info, "Feed resumed")
        }
    }

    /// Notes that a message arrived, which shows that a connection lasts.
    mutating func noteMessage(at now: Duration) {
        guard unstable != nil, isConnected, now - connectedAt >= Self.stableTime else { return }
        let details = instability(at: now)
        unstable = nil
        log("connected", .info, "Feed connected", details, at: now)
    }

    private mutating func noteConnected(_ source: FeedSource?, at now: Duration) {
        let details = (source.map { ["source": $0.name] } ?? [:]) + outage(at: now)
        isConnected = true
        connectedAt = now
        downSince = nil
        attempts = 0
        if unstable == nil {
            log("connected", .info, "Feed connected", details, at: now)
        } else {
            write(.debug, "Feed connected", details)
        }
    }

    private mutating func noteDisconnected(
        _ reason: DisconnectReason, _ detail: String, _ serverWords: String?, at now: Duration
    ) {
        let message = isConnected ? "Feed lost, reconnecting" : "Feed unreachable, retrying"
        var details: Logger.Metadata = ["reason": reason.rawValue, "err": detail]
        if let serverWords { details = details + ["server_message": serverWords] }
        details = details + outage(at: now)
        isConnected = false
        downSince = downSince ?? now
        unstable?.disconnects += 1
        let isDue = now - loggedAt >= Self.reminder
        if unstable == nil, lastState == reason.rawValue && !isDue {
            write(.debug, message, details)
        } else if unstable == nil, disconnects.take(at: now) {
            log(reason.rawValue, .warning, message, details, at: now)
        } else if unstable != nil, !isDue {
            write(.debug, message, details)
        } else {
            details = details + instability(at: now)
            unstable = unstable ?? (now, 1)
            log("unstable", .warning, "Feed unstable, reconnecting", details, at: now)
        }
    }

    /// How long the feed has been down; empty if it is not.
    private func outage(at now: Duration) -> Logger.Metadata {
        downSince.map { ["down_for": (now - $0).wholeSeconds, "attempts": "\(attempts)"] } ?? [:]
    }

    /// How long the feed has been unstable; empty if it is not.
    private func instability(at now: Duration) -> Logger.Metadata {
        unstable.map { ["unstable_for": (now - $0.since).wholeSeconds, "disconnects": "\($0.disconnects)"] } ?? [:]
    }

    private func write(_ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:]) {
        logger.log(level: level, message, metadata: ["feed": label] + details)
    }

    private mutating func log(
        _ state: String, _ level: Logger.Level, _ message: String, _ details: Logger.Metadata, at now: Duration
    ) {
        lastState = state
        loggedAt = now
        write(level, message, details)
    }
}

extension Duration {
    /// For a log: Prometheus' notation, without milliseconds.
    var wholeSeconds: String { Duration.seconds(components.seconds).prometheusText }
}
