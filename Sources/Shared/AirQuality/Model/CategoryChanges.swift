/// Category changes of a city.
public struct CategoryChanges: Sendable, Equatable {
    public var better: UInt64 = 0
    public var worse: UInt64 = 0
    /// Time of the reading that caused the last change; `nil` before the first.
    public var changedAt: Timestamp?
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8 = 0

    public init() {}

    mutating func record(better isBetter: Bool, at time: Timestamp) {
        direction = isBetter ? 1 : -1
        changedAt = time
        // Branch-free, because the direction is unpredictable.
        better += isBetter ? 1 : 0
        worse += isBetter ? 0 : 1
    }
}
