/// What the store holds and what messages do to it, one caller at a time. What time does is in `StoreState+Time`, what
/// survives a restart in `StoreState+Restore`.
struct StoreState: Sendable {
    let rules: StoreRules
    private let bounds: CategoryBounds
    /// Counts up with every change.
    var version: UInt64 = 1
    var cities = Cities()
    var feeds: [FeedStatistics]
    /// Points of all cities.
    var pointCount = 0
    /// Counts up when the points of any city change.
    var pointsVersion: UInt64 = 1
    /// Those that the city limit refused.
    var refusedNames = FirstNames()
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

    var snapshot: StoreSnapshot {
        StoreSnapshot(
            version: version, names: cities.names, states: cities.states, extras: cities.extras,
            order: cities.order, feeds: feeds.filter { !$0.isRemoved }, cityCount: cities.count,
            pointCount: pointCount, expiredCount: expiredCount)
    }

    mutating func apply(_ event: FeedEvent, feed: Int) {
        feeds[feed].apply(event)
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
        if rules.readingsHaveTimes, let known, reading.time < cities.states[known].updatedAt { throw .badTime }
        guard AirQualityIndex.isValid(reading.index) else { throw .outOfRange }
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
        pointsVersion += 1
    }
}
