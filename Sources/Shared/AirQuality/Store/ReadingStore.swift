internal import Bytes
import Synchronization

/// The state that feeds write and scrapes read. Thread-safe.
///
/// The lock is held for a bounded number of readings, one pass over the cities, or sharing the state: a snapshot
/// copies a few references; the first change after it copies the arrays, which takes a millisecond for 100,000 cities.
///
/// ```swift
/// let store = ReadingStore(rules: StoreRules(), feeds: ["demo"], at: currentTime())
/// var decoder = FeedDecoder(format: FeedFormat())
/// let message = Array(#"[{"city": "Mumbai", "aqi": 152}]"#.utf8)
/// store.record(decoder.decode(message.span, receivedAt: currentTime()), feed: 0)
/// let snapshot = store.snapshot()
/// for city in snapshot.states { print(city.aqi) }
/// ```
public final class ReadingStore: Sendable {
    let state: Mutex<StoreState>
    public let rules: StoreRules

    /// - Parameter feeds: labels of the feeds; a feed's index is its position here.
    public init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        state = Mutex(StoreState(rules: rules, feeds: feeds, at: now))
    }

    // MARK: Feeds

    /// Number of readings per lock acquisition, half a millisecond of work: each may have to copy its city's history.
    private var sliceCount: Int { max(16, min(2000, 200_000 / rules.history.capacity)) }

    /// Records a message and returns it with the rejections and duplicates added. Releases the lock at least every
    /// 2,000 readings.
    @discardableResult
    public func record(_ message: consuming FeedMessage, feed: Int) -> FeedMessage {
        var start = 0
        repeat {
            let end = min(start + sliceCount, message.readings.count)
            state.withLock { $0.record(start..<end, of: &message, feed: feed) }
            start = end
        } while start < message.readings.count
        return message
    }

    public func apply(_ event: FeedEvent, feed: Int) {
        state.withLock { state in
            state.version += 1
            state.feeds[feed].apply(event)
        }
    }

    // MARK: Time

    /// Removes cities without a new reading for ``StoreRules/expireAfter``, and returns their number.
    public func expire(at now: Timestamp) -> Int {
        guard rules.expireAfter > 0 else { return 0 }
        return state.withLock { $0.expire(at: now) }
    }

    /// Adjusts times after the wall clock was set by `step` milliseconds, at most `elapsed` milliseconds ago, to
    /// `now`: expiry is unaffected, and no reading remains further ahead than the decoder accepts.
    public func moveArrivals(at now: Timestamp, by step: Int64, elapsed: Int64) {
        state.withLock { $0.moveArrivals(at: now, by: step, except: now - elapsed...now) }
    }

    /// Keeps the last reading of every window that is over, under ``HistoryRule/Keep/last``.
    public func closeWindows(at now: Timestamp) {
        guard rules.history.usesWindows else { return }
        state.withLock { $0.closeWindows(at: now) }
    }

    // MARK: Snapshots

    /// Increases with every change.
    public var version: UInt64 { state.withLock { $0.version } }

    /// Returns the current state, with histories on request.
    public func snapshot(withHistories: Bool = false) -> StoreSnapshot {
        state.withLock { $0.snapshot(withHistories: withHistories) }
    }

    /// Whether the lock is free at this moment. Never blocks.
    public var isUnlocked: Bool { state.withLockIfAvailable { _ in true } ?? false }

    /// The feed with this index; `nil` if it has been removed.
    public func feed(_ index: Int) -> FeedStatistics? {
        state.withLock { state in state.feeds[index].isRemoved ? nil : state.feeds[index] }
    }

    public var feeds: [FeedStatistics] { state.withLock { $0.feeds.filter { !$0.isRemoved } } }

    /// Adds a feed or updates its settings, and returns its index. A known label keeps its counters.
    public func setFeed(label: String, idleTimeout: Int64) -> Int {
        state.withLock { state in
            state.version += 1
            let index = state.index(ofFeed: label)
            state.feeds[index].idleTimeout = idleTimeout
            state.feeds[index].isRemoved = false
            state.feeds[index].isPaused = false
            state.feeds[index].lastProblem = nil
            state.feeds[index].lastDisconnect = nil
            state.feeds[index].source = nil
            state.dropExtras(ofFeed: index)
            return index
        }
    }

    /// Removes a feed whose client has ended, with its cities, except those that another feed sends.
    public func removeFeed(_ index: Int, at now: Timestamp) {
        state.withLock { state in
            state.version += 1
            state.remove(feed: index, at: now)
        }
    }

    // MARK: Restart

    /// Restores cities that the store does not have, with their original times. The time since the newest arrival does
    /// not count towards their expiry.
    public func restore(_ cities: [City], at now: Timestamp) {
        let newest = cities.lazy.map { $0.arrival(at: now) }.max() ?? now
        state.withLock { state in
            for city in cities { state.restore(city, at: now, downtime: now - newest) }
        }
    }
}
