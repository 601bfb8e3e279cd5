/// All that a file brings back.
struct StorageContent: Sendable, Equatable {
    /// In the order in which they were first stored.
    var cities: [StoredCity] = []
    var scale: String?
    /// Rows whose values make no sense.
    var skippedRows = 0
    /// The quick check does not look at the order of rows in a table without row numbers. Out of order, they can
    /// neither be found nor replaced.
    var pointsAreInOrder = true

    init() {}

    init(_ connection: borrowing SQLiteConnection, scale: String?, capacity: Int) throws(SQLiteError) {
        self.scale = scale
        let cityRows = try connection.prepare(
            """
            SELECT id, name, aqi, updated_ms, received_ms, category, direction, changed_ms, better, worse
            FROM city ORDER BY id
            """)
        let pointRows = try connection.prepare("SELECT city, time_ms, aqi FROM point ORDER BY city, time_ms")
        // Both come sorted by the city's number, so one walk joins them.
        var hasPoint = try pointRows.step()
        while try cityRows.step() {
            let number = cityRows.integer(0)
            while hasPoint, pointRows.integer(0) < number { hasPoint = try skip(pointRows) }
            var points: [StoredPoint] = []
            while hasPoint, pointRows.integer(0) == number {
                let point = StoredPoint(time: pointRows.integer(1), index: pointRows.double(2))
                if let last = points.last, last.time >= point.time { pointsAreInOrder = false }
                if point.isPlausible { points.append(point) } else { skippedRows += 1 }
                hasPoint = try pointRows.step()
            }
            guard var city = StoredCity(cityRows) else {
                skippedRows += 1 + points.count
                continue
            }
            city.points = points.count > capacity ? Array(points.suffix(capacity)) : points
            cities.append(city)
        }
        while hasPoint { hasPoint = try skip(pointRows) }
    }

    /// Passes over a point of a city that is not there.
    private mutating func skip(_ pointRows: borrowing SQLiteStatement) throws(SQLiteError) -> Bool {
        skippedRows += 1
        return try pointRows.step()
    }
}

extension StoredCity {
    /// nil when the row's values make no sense.
    fileprivate init?(_ row: borrowing SQLiteStatement) {
        guard let category = UInt8(exactly: row.integer(5)), let direction = Int8(exactly: row.integer(6)),
            let better = UInt64(exactly: row.integer(8)), let worse = UInt64(exactly: row.integer(9))
        else { return nil }
        self.init(
            name: row.bytes(1), index: row.double(2), updatedAt: row.integer(3), receivedAt: row.integer(4),
            category: category, direction: direction, changedAt: row.isNull(7) ? nil : row.integer(7), better: better,
            worse: worse)
        if !isPlausible { return nil }
    }
}
