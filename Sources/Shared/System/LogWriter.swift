internal import Synchronization

/// Writes lines on its own thread, so that no other thread waits for the reader of standard error. Queues at most
/// 1,000 lines and 1 MiB; further lines are dropped and counted.
public final class LogWriter: Sendable {
    public static let standardError = LogWriter { StandardStream.error.write($0) }

    static let maximumLines = 1000
    static let maximumBytes = 1 << 20

    private let write: @Sendable ([UInt8]) -> Bool
    private let queue = WorkQueue(name: "log", limit: LogWriter.maximumLines)
    private let waitingBytes = Atomic(0)
    private let dropped = Atomic(0)

    /// - Parameter write: returns whether everything was written; called on the writer's thread, where it may block.
    init(write: @escaping @Sendable ([UInt8]) -> Bool) { self.write = write }

    /// Lines dropped since the start, including those that could not be written.
    public var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Queues a line or drops it; any thread, never blocks. Writes it at once if not even the first thread can be
    /// started, which is what the line is about.
    public func append(_ line: [UInt8]) {
        let waiting = waitingBytes.add(line.count, ordering: .relaxed).newValue
        let isQueued = waiting <= Self.maximumBytes && queue.submit { self.finish(line, isWritten: self.write(line)) }
        if !isQueued { finish(line, isWritten: !queue.hasThreads && write(line)) }
    }

    private func finish(_ line: [UInt8], isWritten: Bool) {
        waitingBytes.subtract(line.count, ordering: .relaxed)
        if !isWritten { dropped.add(1, ordering: .relaxed) }
    }

    /// Waits up to `limit` until all lines are written. For the end of the process.
    public func flush(within limit: Duration = .seconds(1)) { queue.waitUntilIdle(within: limit) }
}
