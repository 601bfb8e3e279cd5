internal import Bytes
public import FeedProtocol

/// Counters and state of one feed.
public struct FeedStatistics: Sendable, Equatable {
    /// The `feed` label.
    public var label: String
    /// Milliseconds without a message after which the feed counts as silent; 0 disables.
    public var idleTimeout: Int64 = 0
    /// Whether the feed was removed; removed feeds are not exported.
    public internal(set) var isRemoved = false
    public var isConnected = false
    public var isPaused = false
    public var connectionAttempts: UInt64 = 0
    /// Number of completed handshakes.
    public var connections: UInt64 = 0
    public var disconnects: [DisconnectReason: UInt64] = [:]
    /// Number of complete messages, including rejected ones.
    public var messages: UInt64 = 0
    /// Payload bytes of complete messages, including rejected ones.
    public var bytes: UInt64 = 0
    /// Number of messages in which nothing could be a reading.
    public var messagesWithoutReadings: UInt64 = 0
    /// Number of accepted readings.
    public var readings: UInt64 = 0
    /// Number of readings of a city already seen in the same message, or from another feed within its idle time-out.
    public var duplicates: UInt64 = 0
    public var rejections = RejectionCounts()
    /// Number of elements for cities of other shards; `nil` without sharding.
    public var skipped: UInt64?
    /// `nil` before the first message.
    public internal(set) var lastMessageAt: Timestamp?
    /// Arrival of the last message with an accepted reading.
    public internal(set) var lastReadingAt: Timestamp?
    /// Human-readable explanations by rejection reason; `nil` for messages without readings.
    public private(set) var explanations: [RejectionReason?: [ExplanationField]] = [:]
    public private(set) var connection = Connection()
    /// Human-readable reason for the last disconnect or failed attempt; a handshake clears it.
    public var lastProblem: String?
    /// The source announced in the last handshake, if any.
    public var source: FeedSource?

    /// Counts since the last handshake.
    public struct Connection: Sendable, Equatable {
        public fileprivate(set) var readings: UInt64 = 0
        public fileprivate(set) var messagesWithoutReadings: UInt64 = 0
        fileprivate var skipped = 0
        public fileprivate(set) var rejections = RejectionCounts()

        /// The most frequent rejection reason; `nil` if nothing was rejected, or any reading was accepted or skipped.
        public var reasonOfAll: RejectionReason? {
            guard readings == 0, skipped == 0 else { return nil }
            return rejections.reasons.max { rejections[$0] < rejections[$1] }
        }
    }

    mutating func count(_ message: borrowing FeedMessage) {
        messages += 1
        bytes += UInt64(message.byteCount)
        lastMessageAt = message.receivedAt
        if message.acceptedCount > 0 { lastReadingAt = message.receivedAt }
        readings += message.acceptedCount
        connection.readings += message.acceptedCount
        duplicates += UInt64(message.duplicates)
        if message.isWithoutReadings {
            messagesWithoutReadings += 1
            connection.messagesWithoutReadings += 1
        }
        rejections += message.rejections
        connection.rejections += message.rejections
        skipped? += UInt64(message.skipped)
        connection.skipped += message.skipped
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
