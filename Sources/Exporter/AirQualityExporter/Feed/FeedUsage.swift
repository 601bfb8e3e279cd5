/// Whether anybody still reads what the feeds bring, for `--feed.pause-when-unused`.
struct FeedUsage {
    /// How long nobody may read before feeds are paused; zero: for any time.
    let limit: Duration
    /// By the monotonic clock.
    private var lastReadAt: Duration
    private var isPaused = false

    init(limit: Duration, at now: Duration) {
        self.limit = limit
        lastReadAt = now
    }

    /// Notes that somebody has read, and returns whether that ends a pause.
    mutating func read(at now: Duration) -> Bool {
        lastReadAt = now
        defer { isPaused = false }
        return isPaused
    }

    /// Returns whether a pause begins.
    mutating func tick(at now: Duration) -> Bool {
        guard limit > .zero, !isPaused, now - lastReadAt >= limit else { return false }
        isPaused = true
        return true
    }
}
