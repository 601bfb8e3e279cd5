/// Outcome of a message: rejections and duplicates.
public struct RecordOutcome: Sendable, Equatable {
    /// Rejections by the decoder and by the store.
    public internal(set) var rejections = RejectionCounts()
    /// The first reading that the store rejected for each reason, counted from 0 in the message.
    public internal(set) var firstRejected: [RejectionReason: Int] = [:]
    /// Number of readings of a city that had come in the same message, or from another feed.
    public internal(set) var duplicates = 0

    static func += (left: inout RecordOutcome, right: RecordOutcome) {
        left.rejections += right.rejections
        left.firstRejected.merge(right.firstRejected) { first, _ in first }
        left.duplicates += right.duplicates
    }
}
