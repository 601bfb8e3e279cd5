internal import Synchronization

/// Writes lines on a thread of its own, so that no thread waits for a reader of standard error.
///
/// At most 1,000 lines and 1 MiB wait; more are dropped and counted.
public final class LogWriter: Sendable {
    /// The process's standard error.
    public static let standardError = LogWriter { StandardStream.error.write($0) }

    static let maximumLines = 1000
    static let maximumBytes = 1 << 20

    private let write: @Sendable ([UInt8]) -> Bool
    private let queue = WorkQueue(name: "log", limit: LogWriter.maximumLines)
    private let waitingBytes = Atomic(0)
    private let dropped = Atomic(0)

    /// - Parameter write: may block, and says whether all was written; called on the writer's thread.
    init(write: @escaping @Sendable ([UInt8]) -> Bool) { self.write = write }

    /// Lines that were dropped, or that nobody took, since the start.
    public var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Has the line written soon, or drops it; any thread, never blocks.
    public func append(_ line: [UInt8]) {
        let waiting = waitingBytes.add(line.count, ordering: .relaxed).newValue
        let isQueued =
            waiting <= Self.maximumBytes
            && queue.submit {
                if !self.write(line) { self.dropped.add(1, ordering: .relaxed) }
                self.waitingBytes.subtract(line.count, ordering: .relaxed)
            }
        if !isQueued {
            waitingBytes.subtract(line.count, ordering: .relaxed)
            dropped.add(1, ordering: .relaxed)
        }
    }

    /// Waits until all lines are written, for so long at most. For the end of the process.
    public func flush(within limit: Duration = .seconds(1)) { queue.waitUntilIdle(within: limit) }
}
