import Bytes

/// The content of the store, and how messages, time and a restart change it. Not thread-safe.
struct StoreState: Sendable {
    let rules: StoreRules
    var version: UInt64 = 1
    var cities = Cities()
    var feeds: [FeedStatistics]
    var pointCount = 0
    private var rejectedNames = BoundedReport()
    let startedAt: Timestamp
    var expiredAt: Timestamp?
    var expiredCount: UInt64 = 0
    /// Newest reading times of expired cities (at most the city limit), which repeated readings do not restore.
    private var expiredReadings: [[UInt8]: Timestamp] = [:]
    private var messageCount: UInt64 = 0

    init(rules: StoreRules, feeds: [String], at now: Timestamp) {
        self.rules = rules
        self.feeds = feeds.map { FeedStatistics(label: $0) }
        startedAt = now
    }

    mutating func snapshot(withHistories: Bool) -> StoreSnapshot {
        cities.sort()
        return StoreSnapshot(
            rules: rules, version: version, startedAt: startedAt, expiredAt: expiredAt, states: cities.states,
            histories: withHistories ? cities.histories : [],
            feeds: feeds.filter { !$0.isRemoved }, pointCount: pointCount, expiredCount: expiredCount)
    }

    /// Returns the index of the feed with this label; a new feed takes the index of a removed one if there is any.
    mutating func index(ofFeed label: String) -> Int {
        if let known = feeds.firstIndex(where: { $0.label.utf8.elementsEqual(label.utf8) }) { return known }
        let new = FeedStatistics(label: label)
        let index = feeds.firstIndex(where: \.isRemoved) ?? feeds.count
        if index < feeds.count { feeds[index] = new } else { feeds.append(new) }
        return index
    }

    /// Records some of a message's readings, all in order. With the last ones, counts the message for the feed.
    mutating func record(_ range: Range<Int>, of message: inout FeedMessage, feed: Int) {
        if range.lowerBound == 0 {
            messageCount += 1
            message.id = messageCount
        }
        // A snapshot may have been taken since the previous slice.
        version += 1
        for element in range {
            do throws(RejectionReason) {
                guard !message.hasCompletions || message.readings[element].hasValue else {
                    try complete(element, of: message, feed: feed)
                    continue
                }
                if let city = try record(element, of: message, feed: feed) {
                    message.duplicates += 1
                    if !cities.states[city].isNamedAsDuplicate {
                        cities.states[city].isNamedAsDuplicate = true
                        message.noteDuplicate(of: cities.states[city].name)
                    }
                }
                message.acceptedCount += 1
            } catch {
                message.reject(message.readings[element], as: error)
                if error == .cityLimit { message.namesBeyondLimit += rejectedNames.unreported() }
            }
        }
        if range.upperBound == message.readings.count { feeds[feed].count(message) }
    }

    /// Records a reading, and returns the index of its city if it is a duplicate.
    @inline(__always)
    private mutating func record(
        _ element: Int, of message: borrowing FeedMessage, feed: Int
    ) throws(RejectionReason) -> Int? {
        var reading = message.readings[element]
        let name = message.names.span.extracting(reading.nameRange)
        let known = cities.find(name)
        if let known, case let newest = cities.states.span[known].updatedAt, reading.time < newest {
            if reading.hasOwnTime { throw .badTime }
            // The newest reading's clock is ahead, or the clock was set back a little.
            reading.time = newest
        }
        guard AQIRange.isValid(reading.aqi) else { throw .outOfRange }
        let category = rules.scale.category(of: reading.aqi)
        let city: Int
        var isDuplicate = false
        if let known {
            city = known
            isDuplicate = self.isDuplicate(city, message.id, feed: feed, at: message.receivedAt)
        } else {
            guard let new = try insert(name, reading, category: category) else { return nil }
            city = new
        }
        let isOwn = cities.states[city].apply(
            reading, category: category, isNew: known == nil, messageID: message.id, feed: Int32(feed),
            receivedAt: message.receivedAt, version: version)
        if message.hasDetails, let details = message.details(of: element) {
            cities.states[city].add(details, ofFeed: Int32(feed))
        }
        if !isOwn { noteOther(feed, of: city, at: message.receivedAt) }
        // Accessed through a span: copying the history would retain and release its storage.
        let isDated = reading.time >= FeedDecoder.earliest
        if isDated, cities.histories.span[city].mayAdmit(reading.time, rule: rules.history) {
            let point = HistoryPoint(time: reading.time, aqi: reading.aqi)
            let before = cities.histories[city].points.count
            cities.histories[city].admit(point, rule: rules.history, at: message.receivedAt)
            pointCount += cities.histories[city].points.count - before
        }
        return isDuplicate ? city : nil
    }

    /// Adds the details of an element without a value to its city, if there is one.
    private mutating func complete(
        _ element: Int, of message: borrowing FeedMessage, feed: Int
    ) throws(RejectionReason) {
        let name = message.names.span.extracting(message.readings[element].nameRange)
        guard let city = cities.find(name), let details = message.details(of: element) else { throw .noValue }
        cities.states[city].add(details, ofFeed: Int32(feed))
        cities.states[city].version = version
    }

    /// Notes that another feed than the city's own sent it: it takes over after the own feed's idle time-out without
    /// the city.
    @inline(never)
    private mutating func noteOther(_ feed: Int, of city: Int, at now: Timestamp) {
        guard mayTakeOver(feed, city, at: now) else {
            cities.states[city].otherFeed = Int32(feed)
            return
        }
        give(city, to: feed)
        cities.states[city].heardFromOwnFeedAt = now
    }

    private func mayTakeOver(_ feed: Int, _ city: Int, at now: Timestamp) -> Bool {
        let state = cities.states[city]
        if state.feedLabel.isEmpty { return true }
        // After a restart, only the label is known.
        let known = feeds.firstIndex { !$0.isRemoved && $0.labelBytes == state.feedLabel }
        guard let own = known, own != feed else { return true }
        return feeds[own].idleTimeout > 0 && now - state.heardFromOwnFeedAt > feeds[own].idleTimeout
    }

    /// Adds a city; `nil` if the city has expired and the reading is no newer than its last one.
    private mutating func insert(
        _ name: Span<UInt8>, _ reading: Reading, category: UInt8
    ) throws(RejectionReason) -> Int? {
        var bytes: [UInt8] = []
        bytes.append(name)
        if reading.hasOwnTime, let last = expiredReadings[bytes], reading.time <= last {
            if reading.time < last { throw .badTime }
            return nil
        }
        guard cities.count < rules.cityLimit else {
            rejectedNames.insert(name)
            throw .cityLimit
        }
        expiredReadings[bytes] = nil
        return cities.insert(bytes, category: category, version: version)
    }

    /// Removes a feed with its cities, except those that another feed sends.
    mutating func remove(feed: Int, at now: Timestamp) {
        feeds[feed].isRemoved = true
        dropExtras(ofFeed: feed)
        // A new feed may reuse the index.
        for city in cities.states.indices {
            if cities.states[city].feed == feed { cities.states[city].feed = -1 }
            if cities.states[city].otherFeed == feed { cities.states[city].otherFeed = -1 }
        }
        var kept: [Int] = []
        for city in cities.states.indices {
            let state = cities.states[city]
            // After a restart, only the label is known.
            let isOwn =
                state.ownFeed == feed || (state.ownFeed < 0 && state.feedLabel == feeds[feed].labelBytes)
            let isLeft = isOwn && state.otherFeed < 0
            if !isLeft { kept.append(city) }
            if !isLeft, isOwn { give(city, to: Int(state.otherFeed)) }
        }
        guard kept.count < cities.count else { return }
        cities.keep(kept)
        pointCount = cities.histories.reduce(0) { $0 + $1.points.count }
        expiredAt = now
    }

    private mutating func give(_ city: Int, to feed: Int) {
        cities.states[city].ownFeed = Int32(feed)
        cities.states[city].feedLabel = feeds[feed].labelBytes
        cities.states[city].otherFeed = -1
    }

    /// Removes the details that came from the feed: it may no longer send them, while other feeds or fields keep its
    /// cities current.
    mutating func dropExtras(ofFeed feed: Int) {
        for city in cities.states.indices where cities.states[city].extrasFeed == feed {
            cities.states[city].extras = nil
        }
    }

    /// Whether the city was already in this message, or came from another feed within that feed's idle time-out.
    private func isDuplicate(_ city: Int, _ messageID: UInt64, feed: Int, at now: Timestamp) -> Bool {
        let states = cities.states.span
        if states[city].messageID == messageID { return true }
        let other = Int(states[city].feed)
        guard other != feed, feeds.indices.contains(other), !feeds[other].isRemoved else { return false }
        return feeds[other].idleTimeout == 0 || now - states[city].heardAt <= feeds[other].idleTimeout
    }
}

// MARK: - Expiry, clock steps and window closing

extension StoreState {
    mutating func expire(at now: Timestamp) -> Int {
        let oldest = now - rules.expireAfter
        func isOld(_ city: CityState) -> Bool { city.receivedAt + city.downtime < oldest }
        let gone = cities.states.filter(isOld)
        guard !gone.isEmpty else { return 0 }
        version += 1
        if expiredReadings.count + gone.count > rules.cityLimit { expiredReadings = [:] }
        for city in gone { expiredReadings[city.name] = city.updatedAt }
        cities.keep(cities.states.indices.filter { !isOld(cities.states[$0]) })
        pointCount = cities.histories.reduce(0) { $0 + $1.points.count }
        expiredCount += UInt64(gone.count)
        expiredAt = now
        return gone.count
    }

    /// Shifts arrivals by `step` milliseconds after a clock step so that expiry is unaffected, except those in
    /// `times`, which already follow the new clock. Readings further ahead than the decoder accepts move to `now`, or
    /// later ones would be rejected.
    mutating func moveArrivals(at now: Timestamp, by step: Int64, except times: ClosedRange<Timestamp>) {
        version += 1
        for city in cities.states.indices {
            let isMoved = step != 0 && !times.contains(cities.states[city].receivedAt)
            if isMoved { cities.states[city].receivedAt += step }
            if !times.contains(cities.states[city].heardAt) { cities.states[city].heardAt += step }
            if !times.contains(cities.states[city].heardFromOwnFeedAt) {
                cities.states[city].heardFromOwnFeedAt += step
            }
            let isClamped = cities.states[city].clampUpdate(to: now)
            // The arrival is saved too: after a restart, its distance from the newest one determines expiry.
            if isMoved || isClamped { cities.states[city].version = version }
        }
        expiredReadings = expiredReadings.mapValues { min($0, now) }
        for feed in feeds.indices {
            feeds[feed].lastMessageAt = feeds[feed].lastMessageAt.map { min($0, now) }
            feeds[feed].lastReadingAt = feeds[feed].lastReadingAt.map { min($0, now) }
        }
    }

    mutating func closeWindows(at now: Timestamp) {
        let next = version + 1
        let rule = rules.history
        for city in cities.states.indices where cities.histories[city].pending != nil {
            let before = cities.histories[city].points.count
            guard cities.histories[city].closeWindow(before: now, rule: rule, at: now) else { continue }
            pointCount += cities.histories[city].points.count - before
            // A new history point also counts as a change of its city, so that it is saved.
            cities.states[city].version = next
            version = next
        }
    }
}

// MARK: - Restart

extension StoreState {
    /// Restores a city unless the rules reject it. A time too far ahead, stored before the clock was set back, becomes
    /// `now`, or the city would expire late and reject readings with earlier times until then.
    mutating func restore(_ stored: City, at now: Timestamp, downtime: Int64) {
        let name = stored.name.span
        guard cities.count < rules.cityLimit, CityName.accepted(name, in: name.indices) == name.indices else { return }
        guard cities.find(name) == nil else { return }
        version += 1
        let category = rules.scale.category(of: stored.aqi)
        let city = cities.insert(stored.name, category: category, version: version)
        cities.states[city].restore(stored, at: now, downtime: downtime)
        cities.histories[city] = History(points: stored.points, rule: rules.history, at: now)
        pointCount += cities.histories[city].points.count
    }
}
