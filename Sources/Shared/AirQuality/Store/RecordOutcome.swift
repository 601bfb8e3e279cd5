/// Outcome of a message: rejections and duplicates.
public struct RecordOutcome: Sendable, Equatable {
    /// Rejections by the decoder and by the store.
    public internal(set) var rejections = RejectionCounts()
    /// Number of readings of a city that had come in the same message, or from another feed.
    public internal(set) var duplicates = 0

    static func += (left: inout RecordOutcome, right: RecordOutcome) {
        left.rejections += right.rejections
        left.duplicates += right.duplicates
    }
}
