/// Number of rejections for each reason.
public struct RejectionCounts: Sendable, Equatable {
    /// Without those that are 0: most messages have no others.
    private var counts = [RejectionReason: UInt64]()

    public subscript(reason: RejectionReason) -> UInt64 {
        get { counts[reason] ?? 0 }
        set { counts[reason] = newValue == 0 ? nil : newValue }
    }

    public var isEmpty: Bool { counts.isEmpty }

    /// The reasons for which anything was rejected, in the order in which they are looked for.
    public var reasons: [RejectionReason] { isEmpty ? [] : RejectionReason.allCases.filter { self[$0] > 0 } }

    public static func += (left: inout RejectionCounts, right: RejectionCounts) {
        if right.isEmpty { return }
        for (reason, count) in right.counts { left[reason] += count }
    }
}
