public import Bytes

/// Counters and state of one feed.
public struct FeedStatistics: Sendable, Equatable {
    /// The `feed` label.
    public var label: String
    /// Milliseconds without a message after which the feed counts as silent; 0 = off.
    public var idleTimeout: Int64
    /// Whether the feed is read no more; nothing is said about it then.
    public internal(set) var isRemoved = false
    public var isConnected = false
    public var isPaused = false
    public var connectionAttempts: UInt64 = 0
    public var disconnects = [UInt64](repeating: 0, count: DisconnectReason.allCases.count)
    /// Whole messages, refused ones included.
    public var messages: UInt64 = 0
    /// Payload of whole messages.
    public var bytes: UInt64 = 0
    /// Readings accepted.
    public var readings: UInt64 = 0
    public var refusals = RefusalCounts()
    /// Elements of other shards' cities; nil where there are no shards.
    public var skipped: UInt64?
    /// nil before the first message.
    public var lastMessageAt: Timestamp?
    /// When a message last had a reading that was accepted.
    public private(set) var lastReadingAt: Timestamp?
    /// Counts at the time of the last connect.
    private var before = Connection()
    /// The reason why the last connection ended or the last dial failed, for people; nil while all is well.
    public var lastProblem: String?
    /// The source that the feed named when it last connected; nil = none.
    public var source: FeedSource?

    public init(label: String, idleTimeout: Int64 = 0, skipped: UInt64? = nil) {
        self.label = label
        self.idleTimeout = idleTimeout
        self.skipped = skipped
    }
}

extension FeedStatistics {
    /// Counts since the feed connected.
    public struct Connection: Sendable, Equatable {
        public fileprivate(set) var readings: UInt64 = 0
        fileprivate var skipped: UInt64 = 0
        public fileprivate(set) var refusals = RefusalCounts()
        /// The first of each reason, where they are described.
        public fileprivate(set) var refused: [RefusedElement] = []

        /// For which most were refused, where nothing else came; nil where something did, or nothing at all.
        public var reasonOfAll: RefusalReason? {
            guard readings == 0, skipped == 0 else { return nil }
            let reason = RefusalReason.allCases.max { refusals[$0] < refusals[$1] }
            return reason.flatMap { refusals[$0] > 0 ? $0 : nil }
        }
    }

    public var connection: Connection {
        Connection(
            readings: readings - before.readings, skipped: (skipped ?? 0) - before.skipped,
            refusals: refusals - before.refusals, refused: before.refused)
    }
}

/// The source of a feed's readings.
public struct FeedSource: Sendable, Hashable {
    /// Of the handshake's response: the header field in which a feed names its source.
    public static let fieldName = "Air-Quality-Source"

    public var name: String
    /// `model`, `stations`, or empty.
    public var kind: String
    public var license: String

    public init(name: String, kind: String = "", license: String = "") {
        self.name = name
        self.kind = kind
        self.license = license
    }
}

/// A change of a feed's connection.
public enum FeedEvent: Sendable, Equatable {
    case connecting
    /// With its source, if the feed names one.
    case connected(FeedSource?)
    /// A connection ended or a dial failed; the text is for people.
    case disconnected(DisconnectReason, detail: String)
    case paused
    case resumed
}

extension FeedStatistics {
    /// - Parameters:
    ///   - readings: how many of the part's were accepted.
    ///   - refusals: of all its elements, or the message's own.
    mutating func count(_ part: MessagePart, readings accepted: Int, refusals refused: RefusalCounts) {
        if let byteCount = part.messageByteCount {
            messages += 1
            bytes += UInt64(byteCount)
            lastMessageAt = part.receivedAt
        }
        if accepted > 0 { lastReadingAt = part.receivedAt }
        before.refused += part.refused
        readings += UInt64(accepted)
        refusals += refused
        skipped? += UInt64(part.skipped)
    }

    mutating func apply(_ event: FeedEvent) {
        switch event {
        case .connecting: connectionAttempts += 1
        case .connected(let source):
            isConnected = true
            before = Connection(readings: readings, skipped: skipped ?? 0, refusals: refusals)
            self.source = source
            lastProblem = nil
        case .disconnected(let reason, let detail):
            isConnected = false
            disconnects[reason.position] += 1
            lastProblem = detail
        case .paused: isPaused = true
        case .resumed: isPaused = false
        }
    }
}

extension FeedStatistics {
    static let families: [Family<FeedStatistics>] = [
        Family("airquality_exporter_feed_connected", .gauge, label: "feed", "Whether the feed is connected.") {
            $0.isConnected ? 1 : 0
        },
        Family(
            "airquality_exporter_feed_paused", .gauge, label: "feed",
            "Whether the feed is disconnected on purpose (--feed.pause-when-unused)."
        ) { $0.isPaused ? 1 : 0 },
        Family(
            "airquality_exporter_feed_connection_attempts_total", .counter, label: "feed",
            "Attempts to connect to the feed."
        ) { Double($0.connectionAttempts) },
        Family(
            "airquality_exporter_feed_disconnects_total", .counter, labels: ["feed", "reason"],
            "Ended connections and failed connection attempts, by reason."
        ) { feed, add in
            for (reason, count) in zip(DisconnectReason.allCases, feed.disconnects) {
                add([LabelValue(reason.rawValue)], .number(Double(count)))
            }
        },
        Family(
            "airquality_exporter_feed_messages_total", .counter, label: "feed",
            "Complete messages received, including rejected ones."
        ) { Double($0.messages) },
        Family(
            "airquality_exporter_feed_bytes_total", .counter, label: "feed",
            "Payload bytes of complete messages received."
        ) { Double($0.bytes) },
        Family("airquality_exporter_feed_readings_total", .counter, label: "feed", "Readings accepted.") {
            Double($0.readings)
        },
        Family(
            "airquality_exporter_feed_readings_skipped_total", .counter, label: "feed",
            "Readings skipped because their cities belong to other shards (--city.shard)."
        ) { $0.skipped.map { Double($0) } },
        Family(
            "airquality_exporter_feed_refusals_total", .counter, labels: ["feed", "reason"],
            "Rejected messages and elements, by reason."
        ) { feed, add in
            for reason in RefusalReason.allCases {
                add([LabelValue(reason.rawValue)], .number(Double(feed.refusals[reason])))
            }
        },
        Family(
            "airquality_exporter_feed_last_message_timestamp_seconds", .gauge, label: "feed",
            "When the last complete message arrived, in seconds since the Unix epoch."
        ) { $0.lastMessageAt.map { Double($0) / 1000 } },
        Family(
            "airquality_exporter_feed_idle_timeout_seconds", .gauge, label: "feed",
            "Time without a complete message after which the feed is reconnected; 0 = off."
        ) { Double($0.idleTimeout) / 1000 },
        Family(
            "airquality_exporter_feed_source_info", .gauge, labels: ["feed", "source", "kind", "license"],
            "Data source of the feed, as announced in its handshake; the value is 1."
        ) { feed, add in
            guard let source = feed.source else { return }
            add([source.name, source.kind, source.license].map { LabelValue($0) }, .number(1))
        },
    ]
}
