internal import Bytes
public import FeedProtocol

/// Counters and state of one feed.
public struct FeedStatistics: Sendable, Equatable {
    /// The `feed` label.
    public var label: String
    /// Milliseconds without a message after which the feed counts as silent; 0 = off.
    public var idleTimeout: Int64 = 0
    /// Whether the feed is read no more; nothing is said about it then.
    public internal(set) var isRemoved = false
    public var isConnected = false
    public var isPaused = false
    public var connectionAttempts: UInt64 = 0
    /// Number of finished handshakes.
    public var connections: UInt64 = 0
    public var disconnects: [DisconnectReason: UInt64] = [:]
    /// Number of whole messages, rejected ones included.
    public var messages: UInt64 = 0
    /// Payload bytes of whole messages.
    public var bytes: UInt64 = 0
    /// Number of messages that held nothing that could be a reading.
    public var messagesWithoutReadings: UInt64 = 0
    /// Number of readings accepted.
    public var readings: UInt64 = 0
    /// Number of readings of a city that had come in the same message, or from another feed within its idle time-out.
    public var duplicates: UInt64 = 0
    public var rejections = RejectionCounts()
    /// Number of elements of other shards' cities; `nil` where there are no shards.
    public var skipped: UInt64?
    /// `nil` before the first message.
    public internal(set) var lastMessageAt: Timestamp?
    /// When a message last had a reading that was accepted.
    public internal(set) var lastReadingAt: Timestamp?
    /// Explanations for people, why messages gave no readings, by the reason; `nil`: they were without readings.
    public private(set) var explanations: [RejectionReason?: [ExplanationField]] = [:]
    public private(set) var connection = Connection()
    /// The reason why the last connection ended or the last dial failed, for people; `nil` while all is well.
    public var lastProblem: String?
    /// The source that the feed named when it last connected; `nil` if it named none.
    public var source: FeedSource?
}

extension FeedStatistics {
    /// Counts since the feed connected.
    public struct Connection: Sendable, Equatable {
        public fileprivate(set) var readings: UInt64 = 0
        public fileprivate(set) var messagesWithoutReadings: UInt64 = 0
        fileprivate var skipped = 0
        public fileprivate(set) var rejections = RejectionCounts()

        /// The reason for which most were rejected; `nil` where something else came, or nothing at all.
        public var reasonOfAll: RejectionReason? {
            guard readings == 0, skipped == 0 else { return nil }
            return rejections.reasons.max { rejections[$0] < rejections[$1] }
        }
    }
}

extension FeedStatistics {
    /// Counts a message without its readings.
    mutating func count(_ message: borrowing FeedMessage) {
        messages += 1
        bytes += UInt64(message.byteCount)
        lastMessageAt = message.receivedAt
        if message.isWithoutReadings {
            messagesWithoutReadings += 1
            connection.messagesWithoutReadings += 1
        }
        count(message.rejections)
        skipped? += UInt64(message.skipped)
        connection.skipped += message.skipped
    }

    mutating func count(readings accepted: UInt64, _ outcome: RecordOutcome, receivedAt: Timestamp) {
        if accepted > 0 { lastReadingAt = receivedAt }
        readings += accepted
        connection.readings += accepted
        count(outcome.rejections)
        duplicates += UInt64(outcome.duplicates)
    }

    private mutating func count(_ rejected: RejectionCounts) {
        if rejected.isEmpty { return }
        rejections += rejected
        connection.rejections += rejected
    }

    mutating func apply(_ event: FeedEvent) {
        switch event {
        case .connecting: connectionAttempts += 1
        case .connected(let source):
            isConnected = true
            connections += 1
            connection = Connection()
            self.source = source
            lastProblem = nil
        case .disconnected(let reason, let detail):
            isConnected = false
            disconnects[reason, default: 0] += 1
            lastProblem = detail
        case .explained(let reason, let fields): explanations[reason] = fields
        case .paused: isPaused = true
        case .resumed: isPaused = false
        }
    }
}
