/// The newest points of one city.
public struct History: Sendable {
    /// Oldest first. Neither the number nor the allocated memory exceeds the rule's capacity.
    public private(set) var points: [HistoryPoint] = []
    /// Number of points ever kept, including evicted ones; saturates at 2.
    private var keptCount: UInt8 = 0
    /// ``earliestNext(_:)``, cached so that most readings need no further checks.
    private var nextAt = Timestamp.min
    /// When the points last changed, by the exporter's clock.
    public private(set) var changedAt: Timestamp = 0
    /// The last reading of the window that is still open.
    private(set) var pending: HistoryPoint?

    init() {}

    /// Restores the newest points within the capacity, oldest first. `now` is the upper bound of ``changedAt``.
    init(points: [HistoryPoint], rule: HistoryRule, at now: Timestamp) {
        self.points = points.suffix(rule.capacity)
        keptCount = points.count < min(2, rule.capacity) ? UInt8(points.count) : 2
        changedAt = min(points.last?.time ?? 0, now)
        nextAt = earliestNext(rule)
    }

    /// Returns the index of the first point later than `time`, or the number of points if there is none.
    public func firstIndex(after time: Timestamp) -> Int {
        partition(points.count) { points[$0].time <= time }
    }

    /// Whether ``admit(_:rule:at:)`` could have an effect for a reading of this time.
    func mayAdmit(_ time: Timestamp, rule: HistoryRule) -> Bool {
        rule.usesWindows || time >= nextAt || time <= nextAt &- rule.interval
    }

    /// Offers a reading that arrived `now`; the rule decides whether it becomes a point.
    @inline(never)
    mutating func admit(_ point: HistoryPoint, rule: HistoryRule, at now: Timestamp) {
        if rule.usesWindows {
            if let pending, rule.window(of: pending.time) != rule.window(of: point.time) {
                closeWindow(before: .max, rule: rule, at: now)
            }
            pending = point
            return
        }
        // A repeated reading changes nothing.
        if point == points.last { return }
        // The clock was set back: points that are now in the future would break the order.
        removePoints(after: point.time, at: now)
        if points.last?.time == point.time {
            points[points.count - 1] = point
            changedAt = now
        } else if point.time >= earliestNext(rule) {
            append(point, rule, at: now)
        }
        nextAt = earliestNext(rule)
    }

    /// Keeps the pending reading if its window is over at `end`, always for `.max`; returns whether it became a point.
    @discardableResult
    mutating func closeWindow(before end: Timestamp, rule: HistoryRule, at now: Timestamp) -> Bool {
        guard let point = pending, end == .max || rule.window(of: point.time) < rule.window(of: end) else {
            return false
        }
        pending = nil
        if point == points.last { return false }
        // A reading that arrived after its window was closed replaces that window's point and any later ones.
        let start = rule.window(of: point.time) * rule.interval
        if let last = points.last, last.time >= start {
            let isOfWindow = rule.window(of: last.time) == rule.window(of: point.time)
            removePoints(after: (isOfWindow ? min(last.time, point.time) : start) - 1, at: now)
        }
        append(point, rule, at: now)
        return true
    }

    private mutating func append(_ point: HistoryPoint, _ rule: HistoryRule, at now: Timestamp) {
        keptCount = min(2, keptCount + 1)
        changedAt = now
        if points.count == rule.capacity {
            points.removeFirst()
        } else if points.count == points.capacity {
            // Doubles as usual, but never allocates beyond the rule's capacity.
            points.reserveCapacity(min(rule.capacity, max(2, points.count * 2)))
        }
        points.append(point)
    }

    private mutating func removePoints(after time: Timestamp, at now: Timestamp) {
        guard let last = points.last, last.time > time else { return }
        points.removeSubrange(firstIndex(after: time)...)
        changedAt = now
    }

    /// Earliest time at which a reading can become a new point.
    private func earliestNext(_ rule: HistoryRule) -> Timestamp {
        guard let last = points.last, keptCount >= 2 else { return .min }
        return last.time &+ rule.interval
    }
}
