import Bytes

extension StoreState {
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
}
