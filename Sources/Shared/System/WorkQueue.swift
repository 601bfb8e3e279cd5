/// Runs work that may hang on its own thread, one item at a time. The thread exists only while there is work.
public final class WorkQueue: Sendable {
    private let name: String
    /// Maximum number of waiting items.
    private let limit: Int
    /// The waiting items; `nil` while there is no thread.
    private let items = Monitor<[@Sendable () -> Void]?>(nil)

    public init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Queues work; returns `false` if the queue is full or no thread can be started. Any thread; never blocks.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        items.change { items in
            guard (items?.count ?? 0) < limit else { return false }
            guard items != nil || (try? ServiceThread(name: name, body: workUntilEmpty)) != nil else { return false }
            items = items ?? []
            items?.append(work)
            return true
        }
    }

    /// Waits up to `limit` until all work is done.
    func waitUntilIdle(within limit: Duration) {
        _ = items.wait(until: monotonicTime() + limit) { $0 == nil ? true : nil }
    }

    @Sendable private func workUntilEmpty() {
        while let work = items.change({ items in
            if items?.isEmpty == true { items = nil }
            return items?.removeFirst()
        }) { work() }
    }
}
