internal import AirQuality
internal import Bytes

extension StorageDatabase {
    /// Reads the cities row by row, so that the memory needed is that of the cities that the rules let in.
    ///
    /// - Returns: these cities, and the number of those of another shard, beyond the limit or without a name.
    mutating func read(_ rules: StoreRules) throws(StorageError) -> (cities: [City], leftOut: Int) {
        var cities: [City] = []
        var leftOut = 0
        let rows = try connection.prepare(
            """
            SELECT id, name, direction, changed_ms, better, worse, aqi, updated_ms, received_ms, scale FROM city ORDER BY id
            """)
        while try rows.step() {
            // The time of a city without a reading is `.min` until its points are read.
            var city = City(
                id: rows.integer(0) ?? 0, name: rows.bytes(1), index: rows.double(6),
                updatedAt: rows.integer(7) ?? .min, receivedAt: rows.integer(8) ?? .min)
            nextID = city.id + 1
            let isOurs = rules.shard?.contains(city.name.span) ?? true
            guard isOurs, cities.count < rules.cityLimit, isUTF8(city.name.span) else {
                leftOut += 1
                continue
            }
            // A change between categories of another scale means nothing.
            if rows.bytes(9).elementsEqual(rules.scale.name.utf8) {
                city.changes.direction = Int8(clamping: rows.integer(2) ?? 0)
                city.changes.changedAt = rows.integer(3)
                city.changes.better = UInt64(rows.integer(4) ?? 0)
                city.changes.worse = UInt64(rows.integer(5) ?? 0)
            }
            cities.append(city)
        }
        try readPoints(of: &cities, rules.history)
        // A city may have had no point by the time of a kill.
        cities.removeAll { $0.updatedAt == .min }
        for city in cities {
            stored[city.name] = StoredCity(id: city.id, changes: city.changes, newest: city.points.last)
        }
        return (cities, leftOut)
    }

    /// Adds points to the cities, and the newest as the current reading where a kill left none.
    private func readPoints(of cities: inout [City], _ rule: HistoryRule) throws(StorageError) {
        let places = Dictionary(cities.indices.map { (cities[$0].id, $0) }, uniquingKeysWith: max)
        let rows = try connection.prepare("SELECT time_ms, city, aqi FROM reading ORDER BY time_ms DESC, city DESC")
        var last = (time: Timestamp.max, id: Int64.max)
        while try rows.step() {
            let key = (time: rows.integer(0) ?? 0, id: rows.integer(1) ?? 0)
            // Rows out of order can neither be found nor replaced, and SQLite's check does not notice them.
            guard key < last else { throw .damaged("it is damaged: points are out of order") }
            last = key
            guard let place = places[key.id], cities[place].points.count < rule.capacity else { continue }
            let point = HistoryPoint(time: key.time, index: rows.double(2), category: 1)
            if cities[place].updatedAt == .min {
                cities[place].index = point.index
                cities[place].updatedAt = point.time
                // Nobody knows when it was last heard of: it gets its time anew.
                cities[place].receivedAt = .max
            }
            cities[place].points.append(point)
        }
        for place in cities.indices { cities[place].points.reverse() }
    }
}
