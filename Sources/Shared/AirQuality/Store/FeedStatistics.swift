internal import Bytes

/// Counters and state of one feed.
public struct FeedStatistics: Sendable, Equatable {
    /// The `feed` label.
    public let label: String
    let labelBytes: [UInt8]
    /// Milliseconds without a message after which the feed counts as silent; 0 disables.
    public var idleTimeout: Int64 = 0
    /// Whether the feed was removed; removed feeds are not exported.
    public internal(set) var isRemoved = false
    public var isConnected = false
    public var isPaused = false
    public var connectionAttempts: UInt64 = 0
    /// Number of completed handshakes.
    public var connections: UInt64 = 0
    /// By reason; see ``StoreRules/disconnectReasons``.
    public var disconnects: [String: UInt64] = [:]
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
    /// `nil` before the first message.
    public internal(set) var lastMessageAt: Timestamp?
    /// Arrival of the last message with an accepted reading.
    public internal(set) var lastReadingAt: Timestamp?
    public private(set) var connection = Connection()
    /// Reason for the last disconnect or failed attempt; a handshake clears it.
    public internal(set) var lastDisconnect: String?
    /// Human-readable reason for the last disconnect or failed attempt; a handshake clears it.
    public var lastProblem: String?
    /// When the server's certificate expires; `nil` while not connected with TLS.
    public internal(set) var certificateExpiry: Timestamp?
    /// The source announced in the last handshake, if any.
    public var source: FeedSource?

    public init(label: String) {
        self.label = label
        labelBytes = Array(label.utf8)
    }

    /// Counts since the last handshake.
    public struct Connection: Sendable, Equatable {
        public fileprivate(set) var readings: UInt64 = 0
        public fileprivate(set) var messagesWithoutReadings: UInt64 = 0
        public fileprivate(set) var rejections = RejectionCounts()
        public fileprivate(set) var messages: UInt64 = 0
        /// Number of messages with at least one accepted reading.
        public fileprivate(set) var messagesWithReadings: UInt64 = 0
        private(set) var excerpts: [NoReading: ExcerptCounts] = [:]

        /// An example of the kind that came most.
        public func example(of noReading: NoReading) -> MessageExcerpt? { excerpts[noReading]?.mostFrequent }

        /// The most frequent rejection reason; `nil` if nothing was rejected, or any reading was accepted.
        public var reasonOfAll: RejectionReason? {
            guard readings == 0 else { return nil }
            return rejections.reasons.max { rejections[$0] < rejections[$1] }
        }

        fileprivate mutating func count(_ message: borrowing FeedMessage) {
            messages += 1
            readings += message.acceptedCount
            if message.acceptedCount > 0 { messagesWithReadings += 1 }
            rejections += message.rejections
            if message.isWithoutReadings {
                messagesWithoutReadings += 1
                excerpts[.withoutReadings, default: ExcerptCounts()].count(message.excerpt ?? MessageExcerpt())
            }
            for reason in message.rejections.reasons {
                if let excerpt = message.rejected[reason] {
                    excerpts[.rejected(reason), default: ExcerptCounts()].count(excerpt)
                }
            }
        }
    }

    mutating func count(_ message: borrowing FeedMessage) {
        messages += 1
        connection.count(message)
        bytes += UInt64(message.byteCount)
        lastMessageAt = message.receivedAt
        if message.acceptedCount > 0 { lastReadingAt = message.receivedAt }
        readings += message.acceptedCount
        duplicates += UInt64(message.duplicates)
        if message.isWithoutReadings {
            messagesWithoutReadings += 1
        }
        rejections += message.rejections
    }

    mutating func apply(_ event: FeedEvent) {
        switch event {
        case .connecting: connectionAttempts += 1
        case .connected(let source, let certificateExpiry):
            self.certificateExpiry = certificateExpiry
            isConnected = true
            connections += 1
            connection = Connection()
            self.source = source
            lastProblem = nil
            lastDisconnect = nil
        case .disconnected(let reason, let detail):
            certificateExpiry = nil
            isConnected = false
            disconnects[reason, default: 0] += 1
            lastProblem = detail
            lastDisconnect = reason
        case .paused: isPaused = true
        case .resumed: isPaused = false
        }
    }
}
