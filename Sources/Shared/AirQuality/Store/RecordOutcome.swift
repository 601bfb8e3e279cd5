/// The number of accepted readings of a message, its rejections and its duplicates.
public struct RecordOutcome: Sendable, Equatable {
    /// Rejections by the decoder and by the store.
    public internal(set) var rejections: RejectionCounts
    /// Position in the message, from 0, of the first element that was rejected for each reason.
    public internal(set) var firstRejected: [RejectionReason: Int]
    /// Number of accepted readings.
    var readings: UInt64 = 0
    /// Number of readings of a city already seen in the same message, or from another feed.
    public internal(set) var duplicates = 0
    /// The message's number in the store.
    var number: UInt64 = 0

    init(_ message: borrowing FeedMessage) {
        rejections = message.rejections
        firstRejected = message.firstRejected
    }
}
