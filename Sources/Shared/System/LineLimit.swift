/// Limits lines that others can cause as often as they like: the first one is written, then one in each period at most.
public struct LineLimit: Sendable {
    private let period: Duration
    private var lastLineAt: Duration?
    private var suppressed = 0

    public init(_ period: Duration) { self.period = period }

    /// The number of lines suppressed since the last one; `nil` if this one is suppressed too.
    ///
    /// - Parameter now: by the monotonic clock.
    public mutating func suppressed(before now: Duration) -> Int? {
        if let lastLineAt, now - lastLineAt < period {
            suppressed += 1
            return nil
        }
        lastLineAt = now
        defer { suppressed = 0 }
        return suppressed
    }
}
