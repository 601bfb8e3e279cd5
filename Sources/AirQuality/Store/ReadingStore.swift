import Synchronization

/// The one state that feeds write and scrapes read.
///
/// Called from the feeds' threads, libmicrohttpd's, the storage's and the main thread. The lock is held for one
/// message, or to share the state with a reader: sharing copies a few references, whatever the number of cities, and
/// what changes afterwards is copied in chunks of 256 cities.
public final class ReadingStore: Sendable {
    private let state: Mutex<StoreState>
    public let rules: StoreRules

    /// - Parameter feeds: their labels; messages and events name feeds by their place here.
    public init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        state = Mutex(StoreState(rules: rules, feeds: feeds, at: now))
    }

    // MARK: What feeds say

    /// Takes in a whole text message.
    ///
    /// - Parameter decoder: the feed's own.
    /// - Returns: whether ``takeRefusedNames()`` has something new.
    public func record(
        _ message: Span<UInt8>, with decoder: inout FeedDecoder, feed: Int, receivedAt: Timestamp
    ) -> Bool {
        decoder.decode(message, receivedAt: receivedAt)
        let count = message.count
        var hasRefusedNames = false
        decoder.withBytes { bytes in
            hasRefusedNames = state.withLock { state in
                state.record(
                    decoder.readings, decoder.refusals, in: bytes, count: count, feed: feed, receivedAt: receivedAt)
                return state.hasRefusedNames
            }
        }
        return hasRefusedNames
    }

    /// Counts a message that is refused for what it is, not for what it says.
    ///
    /// - Parameter count: bytes of its payload.
    public func refuse(_ reason: RefusalReason, count: Int, feed: Int, receivedAt: Timestamp) {
        state.withLock { $0.refuse(reason, count: count, feed: feed, receivedAt: receivedAt) }
    }

    public func apply(_ event: FeedEvent, feed: Int) {
        state.withLock { $0.apply(event, feed: feed) }
    }

    /// Names that the city limit refused, each given once, ten at most in the store's life.
    public func takeRefusedNames() -> [String] {
        state.withLock { $0.takeRefusedNames() }
    }

    // MARK: What time does

    /// Drops cities that were not heard of for too long.
    ///
    /// - Returns: how many.
    public func expire(at now: Timestamp) -> Int {
        var count = 0
        while true {
            // In portions, so that no feed waits long for the lock.
            let portion = state.withLock { $0.expire(at: now, maximum: 1000) }
            count += portion
            if portion < 1000 { return count }
        }
    }

    /// Keeps the last reading of every window that is over; for ``HistoryRule/Keep/last``.
    public func closeWindows(at now: Timestamp) {
        state.withLock { $0.closeWindows(at: now) }
    }

    // MARK: What readers see

    public func snapshot() -> StoreSnapshot {
        state.withLock { $0.snapshot }
    }

    public func pageSnapshot() -> PageSnapshot {
        state.withLock { PageSnapshot(store: $0.snapshot, histories: $0.histories) }
    }

    /// Whether the lock is free at some moment of the time. For health checks, which must not hang.
    public func canBeLocked(within time: Duration) -> Bool {
        let deadline = ContinuousClock.now + time
        repeat {
            if state.withLockIfAvailable({ _ in true }) != nil { return true }
        } while ContinuousClock.now < deadline
        return false
    }

    public var feeds: [FeedStatistics] {
        state.withLock { $0.feeds }
    }

    /// Another number whenever ``HistoryDocument`` would be another.
    public var pointsVersion: UInt64 {
        state.withLock { $0.pointsVersion }
    }

    func historySnapshot() -> HistorySnapshot {
        state.withLock { state in
            HistorySnapshot(
                startedAt: state.startedAt, expiredAt: state.expiredAt, names: state.names, states: state.states,
                histories: state.histories, order: state.order)
        }
    }

    // MARK: What survives a restart

    /// Brings cities back with their original times. Before any feed runs.
    public func restore(_ cities: [SavedCity]) {
        state.withLock { state in
            for city in cities { state.restore(city) }
        }
    }

    /// From now on remembers what is not saved yet. Once, before any feed runs.
    public func beginSaving() {
        state.withLock { $0.unsaved = UnsavedChanges() }
    }

    /// What changed since `version`: 0 for everything, else the version of an earlier answer.
    ///
    /// Asking from the version of the last answer says that it was written; asking from an earlier one, that it was
    /// not: then its changes are in this answer too.
    public func unsavedChanges(since version: UInt64) -> SavedChanges {
        let answer = state.withLock { $0.answer(since: version) }
        return answer.savedChanges
    }
}
