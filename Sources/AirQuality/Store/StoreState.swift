import JSON

/// What the store holds and what may be done with it, one caller at a time.
struct StoreState: Sendable {
    let rules: StoreRules
    private let bounds: CategoryBounds
    /// Counts up with every change.
    private(set) var version: UInt64 = 1
    private var table = CityTable()
    private(set) var names = NameArena()
    private(set) var states = CityStates()
    private(set) var histories = ChunkedArray<History>()
    private(set) var order = CityOrder()
    private var freeCities: [UInt32] = []
    private(set) var pointCount = 0
    let startedAt: Timestamp
    /// Counts up when the points of any city change.
    private(set) var pointsVersion: UInt64 = 1
    /// When cities last expired.
    private(set) var expiredAt: Timestamp?
    private(set) var expiredCount: UInt64 = 0
    var feeds: [FeedStatistics]
    /// Counts up when a feed's statistics change.
    private(set) var feedsVersion: UInt64 = 1
    /// The first names that the city limit refused.
    private var refusedNames: [[UInt8]] = []
    private var takenRefusedNames = 0
    var unsaved: UnsavedChanges?
    /// The city of each reading being recorded, and where its name is; kept to save the allocations.
    private var cities: [Int32] = []
    private var nameRanges: [Range<Int>] = []

    /// How many refused names are remembered.
    static let maximumRefusedNames = 10

    init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        bounds = CategoryBounds(rules.scale, hysteresis: rules.hysteresis)
        self.feeds = feeds.map(FeedStatistics.init)
        startedAt = now
    }

    var cityCount: Int { table.count }

    var snapshot: StoreSnapshot {
        StoreSnapshot(
            version: version, names: names, states: states, order: order, feeds: feeds, feedsVersion: feedsVersion,
            cityCount: cityCount, pointCount: pointCount, expiredCount: expiredCount)
    }

    // MARK: Messages

    /// - Parameters:
    ///   - bytes: what the readings' names point into.
    ///   - count: bytes of the message.
    mutating func record(
        _ readings: [Reading], _ refusals: [RefusalReason], in bytes: Span<UInt8>, count: Int, feed: Int,
        receivedAt: Timestamp
    ) {
        feedsVersion &+= 1
        let late = record(readings, in: bytes, receivedAt: receivedAt)
        feeds[feed].count(
            bytes: count, readings: readings.count - late.count, refusals: refusals + late, receivedAt: receivedAt)
    }

    /// - Returns: why readings were refused after all.
    private mutating func record(
        _ readings: [Reading], in bytes: Span<UInt8>, receivedAt: Timestamp
    ) -> [RefusalReason] {
        guard !readings.isEmpty else { return [] }
        version &+= 1
        var refusals: [RefusalReason] = []
        for start in stride(from: 0, to: readings.count, by: Self.readingsAtOnce) {
            let portion = start..<min(start &+ Self.readingsAtOnce, readings.count)
            findCities(of: readings, portion, in: bytes)
            for index in portion {
                let city = cities[index &- start]
                if city >= 0, !readings[index].isOutOfRange, !rules.readingsHaveTimes {
                    update(Int(city), readings[index], receivedAt: receivedAt)
                } else if let reason = recordUnusual(readings[index], in: bytes, receivedAt: receivedAt) {
                    refusals.append(reason)
                }
            }
        }
        return refusals
    }

    /// What is needed for them fits the processor's nearest cache.
    private static let readingsAtOnce = 128

    /// A message that is refused without being looked into.
    mutating func refuse(_ reason: RefusalReason, count: Int, feed: Int, receivedAt: Timestamp) {
        feedsVersion &+= 1
        feeds[feed].count(bytes: count, readings: 0, refusals: [reason], receivedAt: receivedAt)
    }

    mutating func apply(_ event: FeedEvent, feed: Int) {
        feedsVersion += 1
        feeds[feed].apply(event)
    }

    /// Notes the city of each reading of a portion, -1 where it is new.
    ///
    /// To be found, a city's slot, its state and its name are needed, one after the other, and with many cities none of
    /// them is in the processor's cache. So all slots are asked for, then all states, then all names: the processor waits
    /// for a dozen of them at once, and not for each in turn.
    private mutating func findCities(of readings: [Reading], _ portion: Range<Int>, in bytes: Span<UInt8>) {
        cities.removeAll(keepingCapacity: true)
        cities.append(addingCapacity: portion.count) { cities in
            for index in portion {
                var search = table.search(for: readings[index].nameHash)
                cities.append(Int32(truncatingIfNeeded: table.next(&search) ?? -1))
            }
        }
        nameRanges.removeAll(keepingCapacity: true)
        nameRanges.append(addingCapacity: portion.count) { nameRanges in
            for city in cities { nameRanges.append(city < 0 ? 0..<0 : states[Int(city)].nameRange) }
        }
        for index in cities.indices where cities[index] >= 0 {
            let reading = readings[portion.lowerBound &+ index]
            // Else it is another city with a hash that is nearly the same.
            if !names.isEqual(nameRanges[index], to: bytes.extracting(reading.nameRange)) {
                cities[index] = find(reading, in: bytes)
            }
        }
    }

    /// - Returns: the city's number; -1 when it is new.
    @inline(never)
    private func find(_ reading: Reading, in bytes: Span<UInt8>) -> Int32 {
        let name = bytes.extracting(reading.nameRange)
        var search = table.search(for: reading.nameHash)
        while let city = table.next(&search) {
            if names.isEqual(states[city].nameRange, to: name) { return Int32(truncatingIfNeeded: city) }
        }
        return -1
    }

    /// A reading that may be refused, or is a city's first.
    @inline(never)
    private mutating func recordUnusual(
        _ reading: Reading, in bytes: Span<UInt8>, receivedAt: Timestamp
    ) -> RefusalReason? {
        // Looked for again: an earlier reading of this message may have been the city's first.
        let city = find(reading, in: bytes)
        if city >= 0, rules.readingsHaveTimes, reading.time < states[Int(city)].updatedAt { return .badTime }
        guard !reading.isOutOfRange else { return .outOfRange }
        guard city < 0 else {
            update(Int(city), reading, receivedAt: receivedAt)
            return nil
        }
        let name = bytes.extracting(reading.nameRange)
        guard cityCount < rules.cityLimit else {
            remember(refused: name)
            return .cityLimit
        }
        let new = insert(name, hash: reading.nameHash)
        states[new].category = bounds.category(of: reading.index, held: nil)
        update(new, reading, receivedAt: receivedAt)
        return nil
    }

    @inline(__always)
    private mutating func update(_ city: Int, _ reading: Reading, receivedAt: Timestamp) {
        let needsMore = states.update(
            city, reading, receivedAt: receivedAt, version: version, bounds: bounds, interval: rules.history.interval)
        guard needsMore || rules.history.usesWindows else { return }
        updateUnusual(city, reading, receivedAt: receivedAt)
    }

    /// What few readings need: a change of category, a point of the history.
    @inline(never)
    private mutating func updateUnusual(_ city: Int, _ reading: Reading, receivedAt: Timestamp) {
        let held = states[city].category
        let category = bounds.category(of: reading.index, held: held)
        if category != held {
            states[city].take(category, at: reading.time, version: version)
        }
        guard rules.history.usesWindows || states[city].mayBePoint(reading.time, interval: rules.history.interval)
        else { return }
        let point = HistoryPoint(time: reading.time, index: reading.index, category: category)
        admit(point, city: city, receivedAt: receivedAt)
    }

    private mutating func admit(_ point: HistoryPoint, city: Int, receivedAt: Timestamp) {
        let before = histories[city].count
        let admission = histories[city].admit(point, rule: rules.history)
        pointCount += histories[city].count - before
        states[city].nextPointAt = histories[city].nextPointAt(rule: rules.history)
        guard admission != .skipped else { return }
        histories[city].changedAt = receivedAt
        pointsVersion += 1
        unsaved?.countPoint(of: city, isNew: admission == .kept)
    }

    // MARK: Cities

    private mutating func insert(_ name: Span<UInt8>, hash: UInt64) -> Int {
        let state = CityState(
            index: 0, updatedAt: 0, receivedAt: 0, nextPointAt: .min, nameCount: UInt8(name.count), category: 1,
            nameOffset: names.append(name))
        let city: Int
        if let free = freeCities.popLast() {
            city = Int(free)
            states[city] = state
            histories[city] = History()
        } else {
            city = states.count
            states.append(state)
            histories.append(History())
        }
        states.mark(city, version: version)
        table.insert(city, hash: hash)
        // Taken out while it changes, because the comparison reads the rest of the state.
        var order = CityOrder()
        swap(&order, &self.order)
        order.insert(UInt32(city), version: version) { precedes($0, name) }
        swap(&order, &self.order)
        return city
    }

    /// Whether the city's name sorts before this one.
    private func precedes(_ city: UInt32, _ name: Span<UInt8>) -> Bool {
        bytesPrecede(names.bytes.span.extracting(states[Int(city)].nameRange), name)
    }

    private mutating func remember(refused name: Span<UInt8>) {
        guard refusedNames.count < Self.maximumRefusedNames else { return }
        let bytes = name.indices.map { name[$0] }
        if !refusedNames.contains(bytes) { refusedNames.append(bytes) }
    }

    var hasRefusedNames: Bool { refusedNames.count > takenRefusedNames }

    /// Refused names that were not taken before.
    mutating func takeRefusedNames() -> [String] {
        defer { takenRefusedNames = refusedNames.count }
        return refusedNames[takenRefusedNames...].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Drops cities not heard of for the time that the rules set.
    ///
    /// - Returns: how many; at most `maximum`, so that the lock is not held for long.
    mutating func expire(at now: Timestamp, maximum: Int) -> Int {
        guard rules.expireAfter > 0 else { return 0 }
        let oldest = now - rules.expireAfter
        var expired: [Int] = []
        for page in order.sequence {
            for city in order.pages[Int(page)].cities where states[Int(city)].receivedAt < oldest {
                expired.append(Int(city))
                if expired.count == maximum { break }
            }
            if expired.count == maximum { break }
        }
        for city in expired { remove(city) }
        expiredCount += UInt64(expired.count)
        if !expired.isEmpty {
            expiredAt = now
            pointsVersion += 1
        }
        return expired.count
    }

    /// Keeps the last readings of windows that are over.
    mutating func closeWindows(at now: Timestamp) {
        guard rules.history.usesWindows else { return }
        for city in 0..<histories.count where histories[city].pending != nil {
            let before = histories[city].count
            guard histories[city].closeWindow(before: now, rule: rules.history) else { continue }
            pointCount += histories[city].count - before
            histories[city].changedAt = now
            pointsVersion += 1
            // A point of the history is a change of its city as well, for who saves changes.
            version += 1
            states.mark(city, version: version)
            unsaved?.countPoint(of: city, isNew: true)
        }
    }

    // MARK: Saving and restoring

    private func has(_ name: Span<UInt8>, hash: UInt64) -> Bool {
        var search = table.search(for: hash)
        while let city = table.next(&search) {
            if names.isEqual(states[city].nameRange, to: name) { return true }
        }
        return false
    }

    mutating func restore(_ saved: SavedCity) {
        guard cityCount < rules.cityLimit, saved.name.count <= CityName.maximumCount else { return }
        let name = saved.name.span
        guard CityName.accepted(name, in: 0..<name.count) == 0..<name.count else { return }
        if let shard = rules.shard, !shard.contains(name) { return }
        let hash = ByteHash.hash(name, seed: rules.hashSeed)
        guard !has(name, hash: hash) else { return }
        version += 1
        let city = insert(name, hash: hash)
        states[city].index = saved.index
        states[city].updatedAt = saved.updatedAt
        states[city].receivedAt = saved.receivedAt
        states[city].category = saved.category
        states[city].changes = saved.changes
        histories[city] = History(points: saved.points, capacity: rules.history.capacity)
        states[city].nextPointAt = histories[city].nextPointAt(rule: rules.history)
        pointCount += histories[city].count
        histories[city].changedAt = histories[city].last?.time ?? 0
        pointsVersion += 1
    }

    mutating func answer(since: UInt64) -> UnsavedAnswer {
        unsaved?.answer(since: since, version: version)
        return UnsavedAnswer(
            since: since, version: version, unsaved: unsaved ?? UnsavedChanges(), names: names, states: states,
            histories: histories)
    }

    private mutating func remove(_ city: Int) {
        version += 1
        let name = Array(names.bytes[states[city].nameRange])
        table.remove(city, hash: ByteHash.hash(name.span, seed: rules.hashSeed))
        unsaved?.remove(city, named: name)
        var order = CityOrder()
        swap(&order, &self.order)
        order.remove(UInt32(city), version: version) { precedes($0, name.span) }
        swap(&order, &self.order)
        names.remove(states[city].nameRange)
        states[city].nameCount = 0
        pointCount -= histories[city].count
        histories[city] = History()
        freeCities.append(UInt32(city))
        if names.isWasteful { compactNames() }
    }

    private mutating func compactNames() {
        var compacted = NameArena()
        for page in order.sequence {
            for city in order.pages[Int(page)].cities {
                let name = Array(names.bytes[states[Int(city)].nameRange])
                states[Int(city)].nameOffset = compacted.append(name.span)
            }
        }
        names = compacted
    }
}
