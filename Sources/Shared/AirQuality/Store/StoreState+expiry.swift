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
