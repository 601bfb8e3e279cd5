import AirQuality
import Bytes
import System

/// What is logged of a feed's connection: changes of its state, not every attempt.
struct FeedLog: Sendable {
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

    init(label: String) {
        self.label = label
    }

    private var isFailing: Bool {
        if case .failing = state { true } else { false }
    }

    mutating func entry(for event: FeedEvent) -> Entry? {
        switch event {
        case .connecting:
            return Entry(level: isFailing ? .debug : .info, message: "Connecting to feed", metadata: ["feed": label])
        case .connected(let source):
            return entry(.connected, .info, "Feed connected", source.map { ["source": $0.name] } ?? [:])
        case .disconnected(let reason, let detail):
            let details: Logger.Metadata = ["reason": reason.rawValue, "err": detail]
            if reason == .requested || reason == .paused {
                return Entry(
                    level: .info, message: "Feed disconnected",
                    metadata: ["feed": label, "reason": reason.rawValue])
            }
            let wasConnected = state == .connected
            return entry(
                .failing(reason), .warning,
                wasConnected ? "Feed lost, reconnecting" : "Feed unreachable, retrying", details)
        case .paused:
            return entry(.paused, .info, "Feed paused: no scrapes")
        case .resumed:
            return Entry(level: .info, message: "Feed resumed", metadata: ["feed": label])
        }
    }

    /// The entry for a new state; the same state again is worth a debug line.
    private mutating func entry(
        _ new: State, _ level: Logger.Level, _ message: String, _ details: Logger.Metadata = [:]
    ) -> Entry {
        let isNew = state != new
        state = new
        return Entry(
            level: isNew ? level : .debug, message: message,
            metadata: Logger.Metadata(dictionaryLiteral: ("feed", label)).merging(details))
    }
}

extension Logger {
    func log(_ entry: FeedLog.Entry) {
        log(level: entry.level, entry.message, metadata: entry.metadata)
    }
}
