/// The newest points of one city, oldest first: a ring buffer whose memory never exceeds the rule's capacity.
public struct History: Sendable {
    private var ring: [HistoryPoint] = []
    /// Position of the oldest point once the ring is full.
    private var oldest: Int32 = 0
    /// Number of points ever kept, including evicted ones; saturates at 2.
    private var keptCount: UInt8 = 0
    /// Earliest time at which a reading can become a new point, cached so that most readings need no further checks.
    private var nextAt = Timestamp.min
    /// When the points last changed, by the exporter's clock.
    public private(set) var changedAt: Timestamp = 0
    /// The last reading of the window that is still open.
    private(set) var pending: HistoryPoint?

    init() {}

    /// Restores the newest points within the capacity, oldest first. `now` is the upper bound of ``changedAt``.
    init(points: [HistoryPoint], rule: HistoryRule, at now: Timestamp) {
        ring = points.suffix(rule.capacity)
        keptCount = UInt8(min(2, points.count))
        changedAt = min(points.last?.time ?? 0, now)
        updateNextAt(rule)
    }

    public var count: Int { ring.count }

    public subscript(index: Int) -> HistoryPoint { ring[(Int(oldest) + index) % ring.count] }

    public var last: HistoryPoint? { ring.isEmpty ? nil : self[ring.count - 1] }

    /// Returns the index of the first point later than `time`, or `count` if there is none.
    public func firstIndex(after time: Timestamp) -> Int {
        partition(count) { self[$0].time <= time }
    }

    /// Whether ``admit(_:rule:at:)`` could have an effect for a reading of this time.
    func mayAdmit(_ time: Timestamp, rule: HistoryRule) -> Bool {
        rule.usesWindows || time >= nextAt || time <= nextAt &- rule.interval
    }

    /// Offers a reading that arrived `now`; the rule decides whether it becomes a point.
    @inline(never)
    mutating func admit(_ point: HistoryPoint, rule: HistoryRule, at now: Timestamp) {
        guard !rule.usesWindows else { return admitToWindow(point, rule: rule, at: now) }
        if let last, point.time <= last.time {
            // A repeated reading changes nothing.
            if point == last { return }
            // The clock was set back: points that are now in the future would break the order.
            if point.time < last.time { removePoints(after: point.time, at: now) }
            if self.last?.time == point.time {
                ring[(Int(oldest) + ring.count - 1) % ring.count] = point
                changedAt = now
                return updateNextAt(rule)
            }
        }
        if keptCount < 2 || last.map({ point.time - $0.time >= rule.interval }) ?? true { append(point, rule, at: now) }
        updateNextAt(rule)
    }

    private mutating func admitToWindow(_ point: HistoryPoint, rule: HistoryRule, at now: Timestamp) {
        if let pending, rule.window(of: pending.time) != rule.window(of: point.time) {
            closeWindow(before: .max, rule: rule, at: now)
        }
        pending = point
    }

    /// Keeps the pending reading if its window is over at `end`, always for `.max`; returns whether it became a point.
    @discardableResult
    mutating func closeWindow(before end: Timestamp, rule: HistoryRule, at now: Timestamp) -> Bool {
        guard let point = pending, end == .max || rule.window(of: point.time) < rule.window(of: end) else {
            return false
        }
        pending = nil
        if point == last { return false }
        // A reading that arrived after its window was closed replaces that window's point and any later ones.
        let start = rule.window(of: point.time) * rule.interval
        if let last, last.time >= start {
            let isOfWindow = rule.window(of: last.time) == rule.window(of: point.time)
            removePoints(after: (isOfWindow ? min(last.time, point.time) : start) - 1, at: now)
        }
        append(point, rule, at: now)
        return true
    }

    private mutating func append(_ point: HistoryPoint, _ rule: HistoryRule, at now: Timestamp) {
        keptCount = min(2, keptCount + 1)
        changedAt = now
        if ring.count < rule.capacity {
            if ring.count == ring.capacity {
                // Doubles as usual, but never allocates beyond the rule's capacity.
                ring.reserveCapacity(min(rule.capacity, max(2, ring.count * 2)))
            }
            ring.append(point)
        } else {
            ring[Int(oldest)] = point
            oldest = (oldest + 1) % Int32(rule.capacity)
        }
    }

    private mutating func removePoints(after time: Timestamp, at now: Timestamp) {
        ring = (0..<count).map { self[$0] }.filter { $0.time <= time }
        oldest = 0
        changedAt = now
    }

    private mutating func updateNextAt(_ rule: HistoryRule) {
        nextAt = .min
        if let last, keptCount >= 2 { nextAt = last.time &+ rule.interval }
    }
}
