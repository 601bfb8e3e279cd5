import Bytes

/// One kept reading.
public struct HistoryPoint: Sendable, Equatable {
    public var time: Timestamp
    public var index: Double
    /// The category that the city held with it.
    public var category: UInt8

    public init(time: Timestamp, index: Double, category: UInt8) {
        self.time = time
        self.index = index
        self.category = category
    }
}

/// A point in 16 bytes: the category shares a word with the time, which needs 41 of its bits for a long time yet.
private struct PackedPoint: Sendable {
    private var timeAndCategory: Int64
    private var index: Double

    init(_ point: HistoryPoint) {
        timeAndCategory = point.time << 8 | Int64(point.category)
        index = point.index
    }

    var time: Timestamp { timeAndCategory >> 8 }
    var point: HistoryPoint {
        HistoryPoint(time: time, index: index, category: UInt8(truncatingIfNeeded: timeAndCategory))
    }
}

/// The newest points of one city, oldest first; a ring that is never longer than the capacity, not for a moment.
struct History: Sendable {
    private var ring: [PackedPoint] = []
    /// Position of the oldest point once the ring is full.
    private var oldest: Int32 = 0
    /// Points kept so far, those pushed out included; counts no further than 2.
    private var keptCount: UInt8 = 0
    /// When the points last changed, by the exporter's clock.
    var changedAt: Timestamp = 0
    /// The last reading of the window that is still open.
    private(set) var pending: HistoryPoint?

    var count: Int { ring.count }

    /// The `index`-th point, oldest first.
    subscript(index: Int) -> HistoryPoint { ring[(Int(oldest) + index) % ring.count].point }

    var last: HistoryPoint? { ring.isEmpty ? nil : self[ring.count - 1] }

    /// Outcome of offering a reading.
    enum Admission: Equatable {
        case kept
        /// The last point was of the same millisecond and is now this reading.
        case replaced
        case skipped
    }

    mutating func admit(_ point: HistoryPoint, rule: HistoryRule) -> Admission {
        guard !rule.usesWindows else { return admitToWindow(point, rule: rule) }
        if let last, point.time <= last.time {
            // A feed that repeats itself changes nothing.
            if point == last { return .skipped }
            if point.time == last.time {
                replaceLast(point)
                return .replaced
            }
            // The clock was set back: points from what is now the future would break the order.
            removePoints(after: point.time)
            if self.last?.time == point.time {
                replaceLast(point)
                return .replaced
            }
        }
        guard keptCount < 2 || last.map({ point.time - $0.time >= rule.interval }) ?? true else {
            return .skipped
        }
        append(point, capacity: rule.capacity)
        return .kept
    }

    private mutating func admitToWindow(_ point: HistoryPoint, rule: HistoryRule) -> Admission {
        var admission = Admission.skipped
        if let pending, rule.window(of: pending.time) != rule.window(of: point.time) {
            admission = closeWindow(before: .max, rule: rule) ? .kept : .skipped
        }
        pending = point
        return admission
    }

    /// Keeps the pending reading if its window ends at or before `now`.
    ///
    /// - Returns: whether a point was kept.
    mutating func closeWindow(before now: Timestamp, rule: HistoryRule) -> Bool {
        guard let point = pending, now == .max || rule.window(of: point.time) < rule.window(of: now) else {
            return false
        }
        pending = nil
        if point == last { return false }
        if let last, last.time >= point.time { removePoints(after: point.time - 1) }
        append(point, capacity: rule.capacity)
        return true
    }

    /// The earliest time at which ``admit(_:rule:)`` may keep a reading as a new point. It would skip any reading
    /// between the last point and this time.
    func nextPointAt(rule: HistoryRule) -> Timestamp {
        guard !rule.usesWindows, let last, keptCount >= 2 else { return .min }
        return last.time &+ rule.interval
    }

    private mutating func append(_ point: HistoryPoint, capacity: Int) {
        keptCount = min(2, keptCount + 1)
        if ring.count < capacity {
            if ring.count == ring.capacity {
                // Twice the size as usual, but not beyond what it may ever hold.
                ring.reserveCapacity(min(capacity, max(2, ring.count * 2)))
            }
            ring.append(PackedPoint(point))
        } else {
            ring[Int(oldest)] = PackedPoint(point)
            oldest = (oldest + 1) % Int32(capacity)
        }
    }

    private mutating func replaceLast(_ point: HistoryPoint) {
        ring[(Int(oldest) + ring.count - 1) % ring.count] = PackedPoint(point)
    }

    private mutating func removePoints(after time: Timestamp) {
        let remaining = (0..<count).map { self[$0] }.filter { $0.time <= time }
        (ring, oldest) = (remaining.map(PackedPoint.init), 0)
    }

    init() {}

    /// - Parameter points: oldest first; only the newest `capacity` are taken.
    init(points: [HistoryPoint], capacity: Int) {
        ring = points.suffix(capacity).map(PackedPoint.init)
        keptCount = UInt8(min(2, points.count))
    }
}

/// Rule that decides which readings become points of the history.
public struct HistoryRule: Sendable, Equatable {
    public enum Keep: String, Sendable, CaseIterable {
        /// A reading is kept at once: a city's first two, then whenever the interval has passed since the last point.
        case first
        /// The last reading of each window of the interval, kept when the window closes.
        case last
    }

    /// Points of one city, 1 … 10000.
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
