internal import AirQuality
internal import Bytes

extension StorageDatabase {
    /// Reads the cities row by row, so that only those the rules admit need memory.
    ///
    /// - Returns: the cities, and the number left out: beyond the limit or with a name not in UTF-8.
    mutating func read(_ rules: StoreRules) throws(StorageError) -> (cities: [City], leftOut: Int) {
        var cities: [City] = []
        var leftOut = 0
        let rows = try connection.prepare(
            """
            SELECT id, name, direction, changed_ms, better, worse, aqi, updated_ms, received_ms, scale,
                feed, country, latitude, longitude
            FROM city ORDER BY id
            """)
        while try rows.step() {
            // `.min` marks a city without a current reading until its points are read. After a kill, when the reading
            // arrived is unknown, so the time until the city expires starts anew.
            var city = City(
                id: rows.integer(0) ?? 0, name: rows.bytes(1), aqi: rows.double(6) ?? 0,
                updatedAt: rows.integer(7) ?? .min, receivedAt: rows.integer(8) ?? .max)
            nextID = city.id + 1
            guard cities.count < rules.cityLimit, isUTF8(city.name.span) else {
                leftOut += 1
                continue
            }
            // Category changes of another scale are meaningless.
            if rows.bytes(9).elementsEqual(rules.scale.name.utf8) {
                city.changes.direction = Int8(clamping: rows.integer(2) ?? 0)
                city.changes.changedAt = rows.integer(3)
                city.changes.better = UInt64(rows.integer(4) ?? 0)
                city.changes.worse = UInt64(rows.integer(5) ?? 0)
            }
            let country = rows.utf8(11)
            city.feedLabel = rows.utf8(10)
            city.place = CityPlace(country: country.span, latitude: rows.double(12), longitude: rows.double(13))
            cities.append(city)
        }
        try readPoints(of: &cities, rules.history)
        // After a kill, a city may have neither a reading nor points.
        cities.removeAll { $0.updatedAt == .min }
        for city in cities {
            stored[city.name] = StoredCity(
                id: city.id, changes: city.changes, feedLabel: city.feedLabel, place: city.place,
                newest: city.points.last)
        }
        return (cities, leftOut)
    }

    /// Adds points to the cities. After a kill, the newest becomes the current reading unless that is newer.
    private mutating func readPoints(of cities: inout [City], _ rule: HistoryRule) throws(StorageError) {
        let places = Dictionary(cities.indices.map { (cities[$0].id, $0) }, uniquingKeysWith: max)
        let rows = try connection.prepare("SELECT time_ms, city, aqi FROM reading ORDER BY time_ms DESC, city DESC")
        var last = (time: Timestamp.max, id: Int64.max)
        while try rows.step() {
            let key = (time: rows.integer(0) ?? 0, id: rows.integer(1) ?? 0)
            // Rows out of order cannot be found or replaced, and SQLite's `quick_check` does not detect them.
            guard key < last else { throw .damaged("it is damaged: points are out of order") }
            last = key
            // Points of a city that is gone may still await their deletion.
            nextID = max(nextID, key.id + 1)
            guard let place = places[key.id], cities[place].points.count < rule.capacity else { continue }
            let point = HistoryPoint(time: key.time, aqi: rows.double(2) ?? 0)
            let isNewest = cities[place].points.isEmpty && point.time >= cities[place].updatedAt
            if isNewest, cities[place].receivedAt == .max {
                cities[place].aqi = point.aqi
                cities[place].updatedAt = point.time
            }
            cities[place].points.append(point)
        }
        for place in cities.indices { cities[place].points.reverse() }
    }
}
