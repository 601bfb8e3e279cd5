import Bytes

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
        pointsVersion += 1
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
