internal import Glibc
internal import Synchronization

/// Work that is expensive or blocks, done on one thread, one piece after another.
///
/// Clients take turns, each with its oldest piece, so a client that has much to do delays the others by one piece at a
/// time. The thread exists while there is work, and leaves the processor to all others.
public final class WorkQueue: Sendable {
    private let name: String
    private let limit: Int
    private let limitPerClient: Int
    private let state = Mutex(State())

    private struct State {
        /// The clients that have work, the next one first.
        var turns: [[UInt8]] = []
        /// Of each of them, the oldest first.
        var waiting: [[UInt8]: [@Sendable () -> Void]] = [:]
        var count = 0
        var isWorking = false
    }

    /// - Parameters:
    ///   - name: of the thread.
    ///   - limit: pieces that may wait; more are refused.
    ///   - limitPerClient: the same for those of one client.
    public init(name: String, limit: Int = 1024, limitPerClient: Int = 256) {
        self.name = name
        self.limit = limit
        self.limitPerClient = limitPerClient
    }

    /// Pieces that wait.
    var count: Int { state.withLock { $0.count } }

    /// Returns false and drops the work when too much waits; any thread.
    ///
    /// - Parameters:
    ///   - client: whose work it is; see `IPAddress.client`.
    ///   - isContinuation: the limits do not apply, because something else bounds how much of it there is.
    public func submit(
        for client: [UInt8] = [], isContinuation: Bool = false, _ work: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isAccepted, needsThread) = state.withLock { state in
            let own = state.waiting[client]?.count ?? 0
            guard isContinuation || state.count < limit && own < limitPerClient else { return (false, false) }
            if own == 0 { state.turns.append(client) }
            state.waiting[client, default: []].append(work)
            state.count += 1
            defer { state.isWorking = true }
            return (true, !state.isWorking)
        }
        if needsThread, (try? ServiceThread(name: name, body: workOnThread)) == nil {
            // There can be no thread: all of it is done here, late rather than never.
            workUntilEmpty()
        }
        return isAccepted
    }

    @Sendable private func workOnThread() {
        yieldToOtherThreads()
        workUntilEmpty()
    }

    private func workUntilEmpty() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let client = state.turns.first else {
                state.isWorking = false
                return nil
            }
            state.turns.removeFirst()
            let work = state.waiting[client]?.removeFirst()
            if state.waiting[client]?.isEmpty == false {
                state.turns.append(client)
            } else {
                state.waiting[client] = nil
            }
            state.count -= 1
            return work
        }
    }
}

/// Gives the calling thread a smaller part of the processor than others have. Corresponds to `setpriority`, which on
/// Linux is about a thread.
private func yieldToOtherThreads() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
