internal import Bytes

/// Rule for which readings become points of the history.
public struct HistoryRule: Sendable, Equatable {
    public enum Keep: String, Sendable, CaseIterable {
        /// Keeps a city's first two readings, then each reading at least an interval after the last point.
        case first
        /// Keeps the last reading of each window of one interval, once the window closes.
        case last
    }

    /// Maximum number of points per city, 1 … 10000.
    public var capacity: Int
    /// In milliseconds; 0 keeps every reading.
    public var interval: Int64
    public var keep: Keep

    public init(capacity: Int = 25, interval: Int64 = 30_000, keep: Keep = .first) {
        precondition((1...10_000).contains(capacity) && interval >= 0)
        self.capacity = capacity
        self.interval = interval
        self.keep = keep
    }

    /// Whether readings wait for their window to close; with an interval of 0 each is its own window.
    public var usesWindows: Bool { keep == .last && interval > 0 }

    /// The number of the window that contains a time; windows are aligned to the Unix epoch.
    func window(of time: Timestamp) -> Int64 { flooredDivision(time, by: interval).quotient }
}
