import Bytes

/// Expiry, clock steps and closing of windows. Each change is for some cities, by their numbers, so that the lock is not held for long.
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
            pointsVersion += 1
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
            pointsVersion += 1
            // A new history point also counts as a change of its city, so that it is saved.
            version += 1
            cities.states.mark(city, version: version)
        }
    }
}
