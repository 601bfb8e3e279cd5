/// A reading kept in the history.
public struct HistoryPoint: Sendable, Equatable {
    public var time: Timestamp
    public var index: Double
    public var category: UInt8

    public init(time: Timestamp, index: Double, category: UInt8) {
        self.time = time
        self.index = index
        self.category = category
    }
}
