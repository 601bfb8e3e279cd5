/// A reading kept in the history.
public struct HistoryPoint: Sendable, Equatable {
    public var time: Timestamp
    public var index: Double

    public init(time: Timestamp, index: Double) {
        self.time = time
        self.index = index
    }
}
