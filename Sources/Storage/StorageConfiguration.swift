public struct StorageConfiguration: Sendable {
    public var path: String
    /// Points per city, at least 1. Older ones leave the file in the transaction that brings newer ones.
    public var capacity: Int
    /// Name of the scale that categories and their counters refer to.
    public var scale: String
    /// From the start of a batch to the start of the next, a second at most. A point is in the file this long after it
    /// was kept, plus the time that writing the batch takes.
    public var interval: Duration

    public init(path: String, capacity: Int, scale: String, interval: Duration = .milliseconds(500)) {
        precondition(capacity >= 1, "a history has at least one point")
        precondition(interval > .zero && interval <= .seconds(1), "batches are at most a second apart")
        self.path = path
        self.capacity = capacity
        self.scale = scale
        self.interval = interval
    }
}
