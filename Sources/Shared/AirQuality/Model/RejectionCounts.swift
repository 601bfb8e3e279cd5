/// Number of rejections for each reason.
public struct RejectionCounts: Sendable, Equatable {
    private var counts = InlineArray<12, UInt64>(repeating: 0)

    public init() {}

    public subscript(reason: RejectionReason) -> UInt64 {
        get { counts[reason.position] }
        set { counts[reason.position] = newValue }
    }

    public var isEmpty: Bool { counts.indices.allSatisfy { counts[$0] == 0 } }

    public static func += (left: inout RejectionCounts, right: RejectionCounts) {
        for position in right.counts.indices { left.counts[position] += right.counts[position] }
    }

    static func - (left: RejectionCounts, right: RejectionCounts) -> RejectionCounts {
        var difference = left
        for position in right.counts.indices { difference.counts[position] -= right.counts[position] }
        return difference
    }

    public static func == (left: RejectionCounts, right: RejectionCounts) -> Bool {
        left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
    }
}

extension CaseIterable where Self: Equatable {
    /// Position of the case in `allCases`.
    var position: Int {
        var position = 0
        for other in Self.allCases {
            if other == self { return position }
            position += 1
        }
        return position
    }
}
