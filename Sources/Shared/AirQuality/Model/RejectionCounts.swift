/// Number of rejections by reason.
public struct RejectionCounts: Sendable, Equatable {
    /// Nonzero counts only: most messages have none.
    private var counts = [RejectionReason: UInt64]()

    public subscript(reason: RejectionReason) -> UInt64 {
        get { counts[reason] ?? 0 }
        set { counts[reason] = newValue == 0 ? nil : newValue }
    }

    public var isEmpty: Bool { counts.isEmpty }

    /// Reasons with rejections, in the order in which they are checked.
    public var reasons: [RejectionReason] {
        counts.count < 2 ? Array(counts.keys) : RejectionReason.allCases.filter { self[$0] > 0 }
    }

    public static func += (left: inout RejectionCounts, right: RejectionCounts) {
        if right.isEmpty { return }
        for (reason, count) in right.counts { left[reason] += count }
    }
}
