/// The limit on what a connection may send in replies: 600 texts and 1 MiB within any minute.
struct ReplyBudget {
    static let maximumTexts = 600
    static let maximumBytes = 1 << 20
    static let period = Duration.seconds(60)

    /// The texts sent within the last minute.
    private var texts: ArraySlice<(at: Duration, byteCount: Int)> = []
    private var byteCount = 0

    /// Whether another text may be sent.
    mutating func isLeft(at now: Duration) -> Bool {
        while let first = texts.first, now - first.at >= Self.period {
            byteCount -= first.byteCount
            texts.removeFirst()
        }
        return texts.count < Self.maximumTexts && byteCount < Self.maximumBytes
    }

    /// Spends the budget for all of the texts; returns `false` if it is not enough, and spends nothing.
    mutating func spend(_ new: [[UInt8]], at now: Duration) -> Bool {
        let bytes = new.reduce(0) { $0 + $1.count }
        guard isLeft(at: now), texts.count + new.count <= Self.maximumTexts, byteCount + bytes <= Self.maximumBytes
        else { return false }
        texts += new.map { (now, $0.count) }
        byteCount += bytes
        return true
    }
}
