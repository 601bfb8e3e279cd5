internal import Bytes

/// Rule that decides which readings become points of the history.
public struct HistoryRule: Sendable, Equatable {
    public enum Keep: String, Sendable, CaseIterable {
        /// A reading is kept at once: a city's first two, then whenever the interval has passed since the last point.
        case first
        /// The last reading of each window of the interval, kept when the window closes.
        case last
    }

    /// Number of points of one city, 1 … 10000.
    public var capacity: Int
    /// Milliseconds; 0 keeps every reading.
    public var interval: Int64
    public var keep: Keep

    public init(capacity: Int = 25, interval: Int64 = 30_000, keep: Keep = .first) {
        precondition((1...10_000).contains(capacity) && interval >= 0)
        self.capacity = capacity
        self.interval = interval
        self.keep = keep
    }

    /// Whether readings wait for their window to close. With windows of no length each is its own.
    public var usesWindows: Bool { keep == .last && interval > 0 }

    /// The window that a time falls into; windows are aligned to the Unix epoch.
    func window(of time: Timestamp) -> Int64 { flooredDivision(time, by: interval).quotient }
}
