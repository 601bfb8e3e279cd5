internal import Bytes
import Synchronization

/// The one state that feeds write and scrapes read.
///
/// Called from any thread. The lock is held for a bounded number of readings, to look at each city, or to share the
/// state: a snapshot copies a few references, and the first change after it copies the arrays, a millisecond at 100,000
/// cities.
///
/// ```swift
/// let store = ReadingStore(rules: StoreRules(), feeds: ["demo"], at: currentTime())
/// var decoder = FeedDecoder(format: FeedFormat())
/// let message = Array(#"[{"city": "Mumbai", "aqi": 152}]"#.utf8)
/// store.record(decoder.decode(message.span, receivedAt: currentTime()), feed: 0)
/// let snapshot = store.snapshot()
/// for city in snapshot.states { print(city.index) }
/// ```
public final class ReadingStore: Sendable {
    private let state: Mutex<StoreState>
    public let rules: StoreRules

    /// - Parameter feeds: labels of the feeds; messages and events name feeds by their place here.
    public init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        state = Mutex(StoreState(rules: rules, feeds: feeds, at: now))
    }

    func withLock<Result>(_ body: (inout StoreState) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    // MARK: What feeds say

    /// Readings that are taken in before the lock is given up for a moment: half a millisecond of work, with long
    /// histories fewer, as each may have to copy its city's.
    private var sliceCount: Int { max(16, min(2000, 200_000 / rules.history.capacity)) }

    /// Takes in a message, and returns what became of its elements. Scrapes may come between 2,000 readings.
    @discardableResult
    public func record(_ message: borrowing FeedMessage, feed: Int) -> RecordOutcome {
        var outcome = RecordOutcome()
        outcome.rejections = message.rejections
        var number: UInt64 = 0
        var start = 0
        repeat {
            let end = min(start + sliceCount, message.readings.count)
            withLock { state in
                if start == 0 { number = state.begin(message, feed: feed) }
                outcome += state.record(start..<end, of: message, number: number, feed: feed)
            }
            start = end
        } while start < message.readings.count
        return outcome
    }

    /// Notes a change of a feed's connection.
    public func apply(_ event: FeedEvent, feed: Int) {
        withLock { state in
            state.version += 1
            state.feeds[feed].apply(event)
        }
    }

    /// Takes names that came twice in a message, or from two feeds: each is given once while the store has the city.
    public func takeDuplicateNames() -> [String] { withLock { exchange(&$0.duplicateNames, with: []) } }

    /// Takes names that the city limit rejected: each is given once, ten at most in the store's life.
    public func takeRejectedNames() -> [String] { withLock { $0.rejectedNames.unreported() } }

    // MARK: What time does

    /// Removes cities that were not heard of for too long, and returns how many.
    public func expire(at now: Timestamp) -> Int {
        guard rules.expireAfter > 0 else { return 0 }
        return withLock { $0.expire(at: now) }
    }

    /// The wall clock was set by `step` milliseconds at most `elapsed` milliseconds ago, and is `now`: expiry counts
    /// from the same moments as before, and no reading is of the future.
    public func moveArrivals(at now: Timestamp, by step: Int64, elapsed: Int64) {
        withLock { $0.moveArrivals(at: now, by: step, except: now - elapsed...now) }
    }

    /// Keeps the last reading of every window that is over; for ``HistoryRule/Keep/last``.
    public func closeWindows(at now: Timestamp) {
        guard rules.history.usesWindows else { return }
        withLock { $0.closeWindows(at: now) }
    }

    // MARK: Snapshots

    /// Counts up with every change.
    public var version: UInt64 { withLock { $0.version } }

    /// Shares the state as it is at this moment, with the history points if they are wanted.
    public func snapshot(withHistories: Bool = false) -> StoreSnapshot {
        withLock { $0.snapshot(withHistories: withHistories) }
    }

    /// Whether nobody holds the lock at this moment. Never waits.
    public var isUnlocked: Bool { state.withLockIfAvailable { _ in true } ?? false }

    public var feeds: [FeedStatistics] { withLock { $0.feeds.filter { !$0.isRemoved } } }

    /// Makes room for a feed, or gives it new settings; returns its number. Counts of a feed of that label go on.
    public func setFeed(label: String, idleTimeout: Int64) -> Int {
        withLock { state in
            state.version += 1
            let skipped: UInt64? = state.rules.shard == nil ? nil : 0
            let new = FeedStatistics(label: label, idleTimeout: idleTimeout, skipped: skipped)
            if let number = state.feeds.firstIndex(where: { $0.label.utf8.elementsEqual(label.utf8) }) {
                state.feeds[number].idleTimeout = idleTimeout
                state.feeds[number].isRemoved = false
                state.feeds[number].isPaused = false
                return number
            }
            if let number = state.feeds.firstIndex(where: \.isRemoved) {
                state.feeds[number] = new
                return number
            }
            state.feeds.append(new)
            return state.feeds.count - 1
        }
    }

    /// Forgets a feed whose client has ended.
    public func removeFeed(_ number: Int) {
        withLock { state in
            state.version += 1
            state.feeds[number].isRemoved = true
            // Another feed may get its number.
            for city in state.cities.states.indices where state.cities.states[city].feed == number {
                state.cities.states[city].feed = -1
            }
        }
    }

    // MARK: What survives a restart

    /// Brings cities back that the store does not know, with their original times.
    public func restore(_ cities: [City], at now: Timestamp) {
        withLock { state in
            for city in cities { state.restore(city, at: now) }
        }
    }
}
