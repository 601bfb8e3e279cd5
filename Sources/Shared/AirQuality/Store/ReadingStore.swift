internal import Bytes
import Synchronization

/// The one state that feeds write and scrapes read.
///
/// Called from the feeds' threads, libmicrohttpd's, the storage's and the main thread. The lock is held for a
/// part of a message, or to share the state: sharing copies a few references, whatever the number of cities, and what
/// changes afterwards is copied in chunks of 256 cities.
public final class ReadingStore: Sendable {
    private let state: Mutex<StoreState>
    /// Number of times the lock was taken.
    let lockCount = Atomic<UInt64>(0)
    private let lastObservedLock = Mutex((number: UInt64(0), at: Duration.zero))
    public let rules: StoreRules

    /// - Parameter feeds: their labels; messages and events name feeds by their place here.
    public init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        state = Mutex(StoreState(rules: rules, feeds: feeds, at: now))
    }

    func withLock<Result>(_ body: (inout StoreState) -> Result) -> Result {
        state.withLock { state in
            lockCount.add(1, ordering: .relaxed)
            return body(&state)
        }
    }

    // MARK: What feeds say

    /// Takes in a part of a text message. A scrape may come between two parts.
    ///
    /// - Parameter names: what the readings' names point into; the decoder lends it.
    /// - Returns: what was refused, by the decoder as well.
    @discardableResult
    public func record(_ part: MessagePart, names: Span<UInt8>, feed: Int) -> RefusalCounts {
        withLock { $0.record(part, names: names, feed: feed) }
    }

    /// Counts a message that is refused without being decoded, because it is too large or not text.
    ///
    /// - Parameter byteCount: of its payload.
    @discardableResult
    public func refuse(
        _ reason: RefusalReason, byteCount: Int, feed: Int, receivedAt: Timestamp
    ) -> RefusalCounts {
        var part = MessagePart(messageByteCount: byteCount, receivedAt: receivedAt)
        part.refusals[reason] = 1
        return record(part, names: Span(), feed: feed)
    }

    public func apply(_ event: FeedEvent, feed: Int) { withLock { $0.feeds[feed].apply(event) } }

    /// Names that the city limit refused, each given once, ten at most in the store's life.
    public func takeRefusedNames() -> [String] { withLock { $0.refusedNames.unreported() } }

    // MARK: What time does

    /// Drops cities that were not heard of for too long.
    ///
    /// - Returns: how many.
    public func expire(at now: Timestamp) -> Int {
        guard rules.expireAfter > 0 else { return 0 }
        var count = 0
        forEachSlice { count += $0.expire($1, at: now) }
        return count
    }

    /// The wall clock was set: expiry counts from the same moments as before, and no reading is of the future.
    ///
    /// - Parameters:
    ///   - now: by the clock as it is now.
    ///   - step: by how much it was set, in milliseconds; it happened at most `elapsed` milliseconds ago.
    public func moveArrivals(at now: Timestamp, by step: Int64, elapsed: Int64) {
        forEachSlice { $0.moveArrivals(of: $1, at: now, by: step, except: now - elapsed...now) }
    }

    /// Keeps the last reading of every window that is over; for ``HistoryRule/Keep/last``.
    public func closeWindows(at now: Timestamp, betweenSlices: () -> Void = {}) {
        guard rules.history.usesWindows else { return }
        forEachSlice(between: betweenSlices) { $0.closeWindows($1, at: now) }
    }

    /// Cities that are looked at before the lock is given up for a moment, so that no feed waits long for it.
    static let sliceCount = 1000

    /// Calls `change` with the numbers of all cities, some at a time.
    private func forEachSlice(between: () -> Void = {}, _ change: (inout StoreState, _ numbers: Range<Int>) -> Void) {
        var start = 0
        while true {
            let end = withLock { state in
                let end = state.cities.endNumber
                let numbers = min(start, end)..<min(start + Self.sliceCount, end)
                change(&state, numbers)
                return end
            }
            start += Self.sliceCount
            guard start < end else { return }
            between()
        }
    }

    /// nil when the cities are complete. Looks at each city, until then and where some were restored.
    public func warmUp(at now: Timestamp) -> WarmUpProgress? {
        let (warmUp, snapshot) = withLock { ($0.warmUp, $0.snapshot(withHistories: false)) }
        guard !warmUp.isOver else { return nil }
        let unheard = warmUp.restoredVersion.map { version in
            (0..<snapshot.states.count).count {
                snapshot.states[$0].isPresent && snapshot.states.version(of: $0) <= version
            }
        }
        guard !warmUp.isOver(at: now), unheard != 0 else {
            withLock { $0.warmUp.isOver = true }
            return nil
        }
        return WarmUpProgress(cityCount: snapshot.cityCount, age: max(0, now - warmUp.grownAt), unheardCount: unheard)
    }

    // MARK: Snapshots

    /// - Parameter withHistories: the points too: a city that has a new one while they are shared costs a copy.
    public func snapshot(withHistories: Bool = false) -> StoreSnapshot {
        withLock { $0.snapshot(withHistories: withHistories) }
    }

    /// Time that the same caller has held the lock, counted from the first call of this function that found it held.
    /// That call returns zero. Never waits.
    public func lockedDuration(at now: Duration) -> Duration {
        guard state.withLockIfAvailable({ _ in true }) == nil else { return .zero }
        let number = lockCount.load(ordering: .relaxed)
        return lastObservedLock.withLock { observed in
            if observed.number != number { observed = (number, now) }
            return now - observed.at
        }
    }

    public var feeds: [FeedStatistics] { withLock { $0.feeds.filter { !$0.isRemoved } } }

    /// Makes room for a feed, or gives it its new settings: what was counted of a feed with that label goes on.
    ///
    /// - Returns: the feed's number.
    public func setFeed(label: String, idleTimeout: Int64) -> Int {
        withLock { state in
            let skipped: UInt64? = state.rules.shard == nil ? nil : 0
            let new = FeedStatistics(label: label, idleTimeout: idleTimeout, skipped: skipped)
            if let number = state.feeds.firstIndex(where: { $0.label == label }) {
                state.feeds[number].idleTimeout = idleTimeout
                state.feeds[number].isRemoved = false
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
    public func removeFeed(_ number: Int) { withLock { $0.feeds[number].isRemoved = true } }

    // MARK: What survives a restart

    /// Brings cities back with their original times. Before any feed runs.
    ///
    /// - Parameter isSameScale: their categories are of the scale in force.
    public func restore(_ cities: [City], isSameScale: Bool = true, at now: Timestamp) {
        withLock { state in
            for city in cities { state.restore(city, isSameScale: isSameScale, at: now) }
            if state.cities.count > 0 { state.warmUp.restoredVersion = state.version }
        }
    }
}

/// Rules by which the store judges readings.
public struct StoreRules: Sendable {
    public var scale: Scale
    /// Distance past a boundary that an index needs to change a city's category.
    public var hysteresis: Double
    public var history: HistoryRule
    public var cityLimit: Int
    /// Milliseconds since a city was last heard of; 0 keeps cities indefinitely.
    public var expireAfter: Int64
    /// Cities that a restored file may bring back.
    public var shard: Shard?
    /// Milliseconds without a new city before the cities count as complete after a start; 0 from the start.
    public var warmUp: Int64
    /// Those of which readings may bring the values.
    public var families: Set<CityFamilyName>

    public init(
        scale: Scale = .india, hysteresis: Double = 0, history: HistoryRule = HistoryRule(), cityLimit: Int = 100_000,
        expireAfter: Int64 = 0, shard: Shard? = nil, warmUp: Int64 = 0,
        families: Set<CityFamilyName> = FeedFormat().families
    ) {
        self.scale = scale
        self.hysteresis = hysteresis
        self.history = history
        self.cityLimit = cityLimit
        self.expireAfter = expireAfter
        self.shard = shard
        self.warmUp = warmUp
        self.families = families
    }
}

/// Cities still missing after a start, as far as known.
public struct WarmUpProgress: Sendable, Equatable {
    public var cityCount: Int
    /// Milliseconds since the last new one.
    public var age: Int64
    /// Restored ones that were not heard of again; nil when nothing was restored.
    public var unheardCount: Int?
}

/// The store's state at one moment, shared with it until either changes.
public struct StoreSnapshot: Sendable {
    let rules: StoreRules
    public let version: UInt64
    let startedAt: Timestamp
    /// When cities last expired.
    let expiredAt: Timestamp?
    let names: NameArena
    public let states: CityStates
    public let extras: ExtrasOfCities
    let order: CityOrder
    /// Empty unless they were asked for.
    let histories: ChunkedArray<History>
    public let feeds: [FeedStatistics]
    public let cityCount: Int
    let pointCount: Int
    let expiredCount: UInt64

    /// The numbers of all cities, by name.
    public var cities: [Int] { order.sequence.flatMap { order.runs[Int($0)].cities.map(Int.init) } }

    public func name(of city: Int) -> ArraySlice<UInt8> { names[states[city].nameRange] }

    /// Oldest first: the kept points, and the current reading where it is newer than all of them.
    public func points(of city: Int) -> [HistoryPoint] {
        let history = histories[city]
        var points = (0..<history.count).map { history[$0] }
        let state = states[city]
        if points.last.map({ $0.time < state.updatedAt }) ?? true {
            points.append(HistoryPoint(time: state.updatedAt, index: state.index, category: state.category))
        }
        return points
    }

    /// The city of this name, and those before and after it by name.
    public func find(_ name: [UInt8]) -> (city: Int, previous: Int?, next: Int?)? {
        func run(_ place: Int) -> [UInt32] {
            order.sequence.indices.contains(place) ? order.runs[Int(order.sequence[place])].cities : []
        }
        let (place, index) = order.position { bytesPrecede(self.name(of: Int($0)).span, name.span) }
        let cities = run(place)
        guard index < cities.count, self.name(of: Int(cities[index])).elementsEqual(name) else { return nil }
        let previous = index > 0 ? cities[index - 1] : run(place - 1).last
        let next = index + 1 < cities.count ? cities[index + 1] : run(place + 1).first
        return (Int(cities[index]), previous.map(Int.init), next.map(Int.init))
    }
}

/// The figures of the store as a whole.
struct StoreStatistics: Sendable, Equatable {
    var cities: Int
    var cityLimit: Int
    /// Milliseconds.
    var expireAfter: Int64
    var expired: UInt64
    var points: Int
    var capacity: Int
    var shard: Shard?

    static let families: [Family<StoreStatistics>] = [
        Family("airquality_exporter_cities", .gauge, "Cities exported.") { Double($0.cities) },
        Family("airquality_exporter_cities_limit", .gauge, "Maximum number of cities (--city.limit).") {
            Double($0.cityLimit)
        },
        Family(
            "airquality_exporter_city_expiry_seconds", .gauge,
            "Time without a reading after which a city is removed; 0 = never."
        ) { Double($0.expireAfter) / 1000 },
        Family(
            "airquality_exporter_cities_expired_total", .counter,
            "Cities removed because they received no reading within --city.expire-after."
        ) { Double($0.expired) },
        Family("airquality_exporter_history_points", .gauge, "History points of all cities.") { Double($0.points) },
        Family("airquality_exporter_history_capacity", .gauge, "Maximum number of history points per city.") {
            Double($0.capacity)
        },
        Family(
            "airquality_exporter_shard_index", .gauge, "Index of this shard, from 0 (--city.shard)."
        ) { $0.shard.map { Double($0.index) } },
        Family(
            "airquality_exporter_shards", .gauge, "Number of shards (--city.shard)."
        ) { $0.shard.map { Double($0.count) } },
    ]
}
