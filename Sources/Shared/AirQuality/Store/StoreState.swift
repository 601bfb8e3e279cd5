/// What the store holds and what messages do to it, one caller at a time. What time does is in `StoreState+Time`, what
/// survives a restart in `StoreState+Saving`.
struct StoreState: Sendable {
    let rules: StoreRules
    private let bounds: CategoryBounds
    /// Counts up with every change.
    var version: UInt64 = 1
    var cities = Cities()
    /// The cities of some of a message's readings, in room that is kept.
    private var found: [Int32] = []
    /// So few that what is found of them is still in the processor's cache when they are recorded.
    private static let readingsFoundAtOnce = 64
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
    /// nil when nothing is saved.
    var unsaved: UnsavedChanges?

    init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        bounds = CategoryBounds(rules.scale, hysteresis: rules.hysteresis)
        self.feeds = feeds.map { FeedStatistics(label: $0, skipped: rules.shard == nil ? nil : 0) }
        warmUp = WarmUp(duration: rules.warmUp, startedAt: now)
        startedAt = now
    }

    var snapshot: StoreSnapshot {
        StoreSnapshot(
            version: version, names: cities.names, states: cities.states, concentrations: cities.concentrations,
            order: cities.order, feeds: feeds, cityCount: cities.count,
            pointCount: pointCount, expiredCount: expiredCount)
    }

    mutating func apply(_ event: FeedEvent, feed: Int) {
        feeds[feed].apply(event)
    }

    /// - Parameter names: what the readings' names point into.
    mutating func record(_ message: DecodedMessage, names: Span<UInt8>, feed: Int) {
        var (refusals, accepted) = (message.refusals, 0)
        let cityCount = cities.count
        if !message.readings.isEmpty { version &+= 1 }
        if message.concentrations.isEmpty {
            var rest = message.readings.indices
            while !rest.isEmpty {
                let run = rest.prefix(Self.readingsFoundAtOnce)
                rest = rest.dropFirst(run.count)
                cities.find(message.readings, in: run, names, into: &found)
                for (index, place) in run.enumerated() {
                    let city = found[index] < 0 ? nil : Int(found[index])
                    if let reason = record(message.readings[place], of: city, names, receivedAt: message.receivedAt) {
                        refusals[reason] += 1
                    } else {
                        accepted &+= 1
                    }
                }
            }
        } else {
            accepted = recordWithConcentrations(message, names: names, refusals: &refusals)
        }
        feeds[feed].count(message, readings: accepted, refusals: refusals)
        if !warmUp.isOver { warmUp.receive(at: message.receivedAt, hasNewCities: cities.count > cityCount) }
    }

    /// What ``record(_:names:feed:)`` does with readings of which some have concentrations.
    ///
    /// - Returns: how many are accepted.
    @inline(never)
    private mutating func recordWithConcentrations(
        _ message: DecodedMessage, names: Span<UInt8>, refusals: inout RefusalCounts
    ) -> Int {
        var (accepted, rest) = (0, message.concentrations[...])
        for (place, reading) in message.readings.enumerated() {
            let concentrations = rest.first?.reading == place ? rest.removeFirst().values : nil
            if let reason = record(reading, of: nil, names, receivedAt: message.receivedAt) {
                refusals[reason] += 1
                continue
            }
            accepted += 1
            if let concentrations, let city = cities.find(names, in: reading.nameRange, hash: reading.nameHash) {
                cities.concentrations[city] = concentrations
            }
        }
        return accepted
    }

    /// - Parameter city: if it is known already.
    /// - Returns: why the reading is refused, if it is.
    @inline(__always)
    private mutating func record(
        _ reading: Reading, of city: Int?, _ names: Span<UInt8>, receivedAt: Timestamp
    ) -> RefusalReason? {
        let city = city ?? cities.find(names, in: reading.nameRange, hash: reading.nameHash)
        if rules.readingsHaveTimes, let city, reading.time < cities.states[city].updatedAt { return .badTime }
        guard AirQualityIndex.isValid(reading.index) else { return .outOfRange }
        guard let city = city ?? insert(reading, named: names.extracting(reading.nameRange)) else { return .cityLimit }
        let mayBePoint = cities.states.update(
            city, reading, receivedAt: receivedAt, version: version, bounds: bounds, interval: rules.history.interval)
        if mayBePoint || rules.history.usesWindows { admit(reading, city: city, receivedAt: receivedAt) }
        return nil
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

    /// What few readings need: the history may keep them.
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
        // After a removal the newest remaining point is saved again, which deletes later ones from the storage too.
        unsaved?.countPoint(of: city, isNew: admission == .kept)
    }
}
