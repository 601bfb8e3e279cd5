import Bytes

/// The content of the store, and how messages, time and a restart change it. One caller at a time.
struct StoreState: Sendable {
    let rules: StoreRules
    private let bounds: CategoryBounds
    /// Counts up with every change.
    var version: UInt64 = 1
    var cities = Cities()
    var feeds: [FeedStatistics]
    /// Points of all cities.
    var pointCount = 0
    /// Those that the city limit refused.
    var refusedNames = BoundedReport()
    let startedAt: Timestamp
    /// When cities last expired.
    var expiredAt: Timestamp?
    var expiredCount: UInt64 = 0
    var warmUp: WarmUp

    init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        bounds = CategoryBounds(rules.scale, hysteresis: rules.hysteresis)
        self.feeds = feeds.map { FeedStatistics(label: $0, skipped: rules.shard == nil ? nil : 0) }
        warmUp = WarmUp(duration: rules.warmUp, startedAt: now)
        startedAt = now
    }

    func snapshot(withHistories: Bool) -> StoreSnapshot {
        StoreSnapshot(
            rules: rules, version: version, startedAt: startedAt, expiredAt: expiredAt, names: cities.names,
            states: cities.states, extras: cities.extras, order: cities.order,
            histories: withHistories ? cities.histories : ChunkedArray(), feeds: feeds.filter { !$0.isRemoved },
            cityCount: cities.count, pointCount: pointCount, expiredCount: expiredCount)
    }

    /// - Parameter names: what the readings' names point into.
    /// - Returns: what was refused.
    mutating func record(_ part: MessagePart, names: Span<UInt8>, feed: Int) -> RefusalCounts {
        var (refusals, accepted) = (part.refusals, 0)
        var extras = part.extras[...]
        let cityCount = cities.count
        if !part.readings.isEmpty { version &+= 1 }
        for (index, reading) in part.readings.enumerated() {
            let news = extras.first?.reading == index ? extras.removeFirst().extras : nil
            do throws(RefusalReason) {
                let city = try record(reading, names, receivedAt: part.receivedAt)
                if let news { cities.extras[city].update(with: news) }
                accepted &+= 1
            } catch {
                refusals[error] += 1
            }
        }
        feeds[feed].count(part, readings: accepted, refusals: refusals)
        if !warmUp.isOver { warmUp.receive(at: part.receivedAt, hasNewCities: cities.count > cityCount) }
        return refusals
    }

    /// - Returns: the number of its city.
    private mutating func record(
        _ reading: Reading, _ names: Span<UInt8>, receivedAt: Timestamp
    ) throws(RefusalReason) -> Int {
        let name = names.extracting(reading.nameRange)
        let known = cities.find(name, hash: reading.nameHash)
        // One that says its time; the arrivals of two feeds may cross, and the clock may be set back.
        if reading.time != receivedAt, let known, reading.time < cities.states[known].updatedAt { throw .badTime }
        guard IndexRange.isValid(reading.index) else { throw .outOfRange }
        guard let city = known ?? insert(reading, named: name) else { throw .cityLimit }
        let mayBePoint = cities.states.update(
            city, reading, receivedAt: receivedAt, version: version, bounds: bounds, interval: rules.history.interval)
        if mayBePoint || rules.history.usesWindows { admit(reading, city: city, receivedAt: receivedAt) }
        return city
    }

    /// - Returns: nil when there is no room for another city.
    private mutating func insert(_ reading: Reading, named name: Span<UInt8>) -> Int? {
        guard cities.count < rules.cityLimit else {
            refusedNames.insert(name)
            return nil
        }
        let city = cities.insert(name, hash: reading.nameHash, version: version)
        cities.states[city].category = bounds.category(of: reading.index, held: nil)
        return city
    }

    /// Slow path: offers the reading to the history.
    @inline(never)
    private mutating func admit(_ reading: Reading, city: Int, receivedAt: Timestamp) {
        let point = HistoryPoint(time: reading.time, index: reading.index, category: cities.states[city].category)
        let before = cities.histories[city].count
        let admission = cities.histories[city].admit(point, rule: rules.history)
        let count = cities.histories[city].count
        pointCount += count - before
        cities.states[city].nextPointAt = cities.histories[city].nextPointAt(rule: rules.history)
        // A clock that was set back can have removed points for a reading that is then skipped.
        guard admission != .skipped || count < before else { return }
        cities.histories[city].changedAt = receivedAt
    }
}

// MARK: - Expiry, clock steps and closing of windows

/// Each change is for some cities, by their numbers, so that the lock is not held for long.
extension StoreState {
    /// Drops those not heard of for the time that the rules set.
    ///
    /// - Returns: how many.
    mutating func expire(_ numbers: Range<Int>, at now: Timestamp) -> Int {
        let oldest = now - rules.expireAfter
        var count = 0
        for city in numbers where cities.states[city].isPresent && cities.states[city].receivedAt < oldest {
            remove(city)
            count += 1
        }
        if count > 0 {
            expiredCount += UInt64(count)
            expiredAt = now
        }
        return count
    }

    /// Moves the arrivals to a clock that was set, so that no city expires by that, and readings of what is now the
    /// future to this moment, so that later ones are not refused as older.
    ///
    /// - Parameters:
    ///   - step: milliseconds.
    ///   - times: what arrived in them has the new clock's time already.
    mutating func moveArrivals(
        of numbers: Range<Int>, at now: Timestamp, by step: Int64, except times: ClosedRange<Timestamp>
    ) {
        for city in numbers where cities.states[city].isPresent {
            let isMoved = step != 0 && !times.contains(cities.states[city].receivedAt)
            if isMoved { cities.states[city].receivedAt += step }
            let isClamped = cities.states[city].clampUpdate(to: now)
            guard isMoved || isClamped else { continue }
            // The arrival is saved too: after a restart it decides when the city expires.
            version += 1
            cities.states.mark(city, version: version)
        }
    }

    private mutating func remove(_ city: Int) {
        version += 1
        let name = cities.name(of: city)
        pointCount -= cities.histories[city].count
        cities.remove(city, hash: CityName.hash(name.span), version: version)
    }

    /// Keeps the last readings of windows that are over.
    mutating func closeWindows(_ numbers: Range<Int>, at now: Timestamp) {
        for city in numbers where cities.histories[city].pending != nil {
            let before = cities.histories[city].count
            guard cities.histories[city].closeWindow(before: now, rule: rules.history) else { continue }
            pointCount += cities.histories[city].count - before
            cities.histories[city].changedAt = now
            // A new history point also counts as a change of its city, so that it is saved.
            version += 1
            cities.states.mark(city, version: version)
        }
    }
}

// MARK: - What survives a restart

extension StoreState {
    /// Brings a city back, unless the rules refuse it.
    ///
    /// - Parameters:
    ///   - isSameScale: see ``City/judge(by:isSameScale:)``.
    ///   - now: A time beyond it was stored while the clock was ahead. It becomes this one, or the city would expire
    ///     late and, where the feed gives times itself, refuse every reading until then.
    mutating func restore(_ stored: City, isSameScale: Bool, at now: Timestamp) {
        let name = stored.name.span
        guard cities.count < rules.cityLimit, CityName.accepted(name, in: name.indices) == name.indices else { return }
        if let shard = rules.shard, !shard.contains(name) { return }
        let hash = CityName.hash(name)
        guard cities.find(name, hash: hash) == nil else { return }
        version += 1
        let city = cities.insert(name, hash: hash, version: version)
        var judged = stored
        judged.judge(by: rules, isSameScale: isSameScale)
        if let changedAt = judged.changes.changedAt { judged.changes.changedAt = min(changedAt, now) }
        var history = History(points: judged.points, capacity: rules.history.capacity)
        history.changedAt = min(history.last?.time ?? 0, now)
        cities.states[city].index = stored.index
        cities.states[city].updatedAt = stored.updatedAt
        cities.states[city].receivedAt = min(stored.receivedAt, now)
        cities.states[city].clampUpdate(to: now)
        cities.states[city].category = judged.category
        cities.states[city].changes = judged.changes
        cities.states[city].nextPointAt = history.nextPointAt(rule: rules.history)
        cities.histories[city] = history
        pointCount += history.count
    }
}

extension CityState {
    /// Moves the time of the newest reading back if it is later than any that the decoder accepts now.
    ///
    /// - Returns: whether it was.
    @discardableResult
    mutating func clampUpdate(to now: Timestamp) -> Bool {
        guard updatedAt > now + FeedDecoder.maximumLead else { return false }
        updatedAt = now
        return true
    }
}

/// When the cities are complete after a start: no new one has come for a while, or all that were restored have been heard
/// of again.
struct WarmUp: Sendable {
    /// Milliseconds; 0: the cities count as complete from the start.
    let duration: Int64
    /// The store's version right after the restore; nil if nothing was restored.
    var restoredVersion: UInt64?
    /// When the last new city came; if none has come yet, when the first message came; before that, the start.
    private(set) var grownAt: Timestamp
    private var hasMessage = false
    var isOver: Bool

    init(duration: Int64, startedAt: Timestamp) {
        self.duration = duration
        grownAt = startedAt
        isOver = duration == 0
    }

    mutating func receive(at time: Timestamp, hasNewCities: Bool) {
        guard !isOver, hasNewCities || !hasMessage else { return }
        // Once they have stopped growing, a city that comes later changes nothing.
        if hasMessage, isOver(at: time) {
            isOver = true
        } else {
            grownAt = time
        }
        hasMessage = true
    }

    func isOver(at now: Timestamp) -> Bool { isOver || now - grownAt >= duration }
}

/// Names to report, each once, and only the first few.
struct BoundedReport: Sendable {
    static let maximumCount = 10

    private var names: [[UInt8]] = []
    private var reportedCount = 0

    mutating func insert(_ name: Span<UInt8>) {
        guard names.count < Self.maximumCount else { return }
        let bytes = (0..<min(name.count, CityName.maximumCount)).map { name[$0] }
        if !names.contains(bytes) { names.append(bytes) }
    }

    /// The names that were not reported before.
    mutating func unreported() -> [String] {
        defer { reportedCount = names.count }
        return names[reportedCount...].map { String(decoding: $0, as: UTF8.self) }
    }
}
