/// A reading kept in the history.
public struct HistoryPoint: Sendable, Equatable {
    public var time: Timestamp
    public var aqi: Double

    public init(time: Timestamp, aqi: Double) {
        self.time = time
        self.aqi = aqi
    }
}
