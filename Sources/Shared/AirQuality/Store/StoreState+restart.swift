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
