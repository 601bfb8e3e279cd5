/// Rejections and duplicates of a message.
public struct RecordOutcome: Sendable, Equatable {
    /// Rejections by the decoder and by the store.
    public internal(set) var rejections = RejectionCounts()
    /// Position in the message's readings, from 0, of the first one that the store rejected for each reason.
    public internal(set) var firstRejected: [RejectionReason: Int] = [:]
    /// Number of readings of a city already seen in the same message, or from another feed.
    public internal(set) var duplicates = 0

    static func += (left: inout RecordOutcome, right: RecordOutcome) {
        left.rejections += right.rejections
        left.firstRejected.merge(right.firstRejected) { first, _ in first }
        left.duplicates += right.duplicates
    }
}
