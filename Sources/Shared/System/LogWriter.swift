internal import Glibc
internal import Synchronization

/// Writes lines on a thread of its own, so that no thread waits for a reader of standard error.
///
/// At most 1,000 lines, or 1 MiB of them, wait; more are dropped and counted.
public final class LogWriter: Sendable {
    /// The process's standard error.
    public static let standardError = LogWriter { StandardStream.error.write($0) }

    static let maximumLines = 1000
    static let maximumBytes = 1 << 20

    private let write: @Sendable ([UInt8]) -> Void
    private let state = Monitor(State())

    private struct State: Sendable {
        var lines: [[UInt8]] = []
        var bytes = 0
        var dropped = 0
        var isWriting = false
        var hasThread = false

        var isIdle: Bool { lines.isEmpty && !isWriting }
    }

    /// - Parameter write: may block; called on the writer's thread.
    init(write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    /// Lines that were dropped since the start.
    public var droppedLines: Int { state.read(\.dropped) }

    /// Has the line written soon, or drops it; any thread, never blocks.
    public func append(_ line: [UInt8]) {
        let needsThread = state.change { state in
            guard state.lines.count < Self.maximumLines, state.bytes + line.count <= Self.maximumBytes else {
                state.dropped += 1
                return false
            }
            state.lines.append(line)
            state.bytes += line.count
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread, (try? ServiceThread(name: "log", body: run)) == nil {
            state.change { $0.hasThread = false }
        }
    }

    /// Waits until all lines are written, for so long at most. For the end of the process.
    public func flush(within limit: Duration = .seconds(1)) {
        _ = state.wait(until: monotonicTime() + limit) { $0.isIdle ? true : nil }
    }

    @Sendable private func run() {
        while true {
            let line = state.wait { state -> [UInt8]? in
                guard !state.lines.isEmpty else { return nil }
                state.isWriting = true
                let line = state.lines.removeFirst()
                state.bytes -= line.count
                return line
            }
            if let line { write(line) }
            state.change { $0.isWriting = false }
        }
    }
}
