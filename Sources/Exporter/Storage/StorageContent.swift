internal import AirQuality
internal import Bytes

/// Cities of a file, as far as the rules let them in.
struct StorageContent {
    var cities: [City] = []
    /// Number of cities that are not let in: they are of another shard, beyond the limit, or have no name.
    var leftOutCount = 0
    /// No city of the file has this id or a greater one.
    var nextID: Int64 = 1

    /// Reads row by row, so that the memory needed is that of the cities that are let in.
    init(_ connection: borrowing SQLiteConnection, _ rules: StoreRules) throws(StorageError) {
        let places = try readCities(connection, rules)
        try readPoints(connection, capacity: rules.history.capacity, places)
        for place in cities.indices {
            cities[place].points.reverse()
            // After a kill, the newest point is the current reading.
            guard cities[place].updatedAt == .min, let newest = cities[place].points.last else { continue }
            cities[place].index = newest.index
            cities[place].updatedAt = newest.time
            cities[place].receivedAt = newest.time
        }
        // A city may have had no point by then.
        cities.removeAll { $0.updatedAt == .min }
    }

    /// Reads the cities, with a time of `.min` where one has no reading.
    ///
    /// - Returns: their places by their ids.
    private mutating func readCities(
        _ connection: borrowing SQLiteConnection, _ rules: StoreRules
    ) throws(StorageError) -> [Int64: Int] {
        var places: [Int64: Int] = [:]
        let rows = try connection.prepare(
            """
            SELECT id, name, direction, changed_ms, better, worse, aqi, updated_ms, received_ms, scale FROM city ORDER BY id
            """)
        while try rows.step() {
            var city = City(
                id: rows.integer(0) ?? 0, name: rows.bytes(1), index: rows.double(6),
                updatedAt: rows.integer(7) ?? .min,
                receivedAt: rows.integer(8) ?? .min)
            nextID = city.id + 1
            let isOurs = rules.shard?.contains(city.name.span) ?? true
            guard isOurs, cities.count < rules.cityLimit, isUTF8(city.name.span) else {
                leftOutCount += 1
                continue
            }
            // A change between categories of another scale means nothing.
            if rows.bytes(9).elementsEqual(rules.scale.name.utf8) {
                city.changes.direction = Int8(clamping: rows.integer(2) ?? 0)
                city.changes.changedAt = rows.integer(3)
                city.changes.better = UInt64(rows.integer(4) ?? 0)
                city.changes.worse = UInt64(rows.integer(5) ?? 0)
            }
            places[city.id] = cities.count
            cities.append(city)
        }
        return places
    }

    /// Adds points to the cities, the newest first.
    private mutating func readPoints(
        _ connection: borrowing SQLiteConnection, capacity: Int, _ places: [Int64: Int]
    ) throws(StorageError) {
        let rows = try connection.prepare("SELECT time_ms, city, aqi FROM reading ORDER BY time_ms DESC, city DESC")
        var last = (time: Timestamp.max, id: Int64.max)
        while try rows.step() {
            let key = (time: rows.integer(0) ?? 0, id: rows.integer(1) ?? 0)
            // Rows out of order can neither be found nor replaced, and SQLite's check does not notice them.
            guard key < last else { throw .damaged("it is damaged: points are out of order") }
            last = key
            guard let place = places[key.id], cities[place].points.count < capacity else { continue }
            cities[place].points.append(HistoryPoint(time: key.time, index: rows.double(2), category: 1))
        }
    }
}
