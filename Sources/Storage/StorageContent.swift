internal import Bytes
internal import CSQLite
internal import System

/// What a file brings back.
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

    init(
        _ connection: borrowing SQLiteConnection, scale: String?, _ configuration: StorageConfiguration
    ) throws(SQLiteError) {
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
                if point.isPlausible(within: configuration.limits) { points.append(point) } else { skippedRows += 1 }
                hasPoint = try pointRows.step()
            }
            guard var city = StoredCity(cityRows), city.isPlausible(within: configuration.limits) else {
                skippedRows += 1 + points.count
                continue
            }
            city.points = Array(points.suffix(configuration.capacity))
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

extension StorageContent {
    /// What can be read of a file that cannot be written, and of its journal.
    ///
    /// Counters begin anew: how far they get cannot be kept, and the next start must not find them as they were.
    static func ofReadOnlyFile(_ configuration: StorageConfiguration) -> StorageContent {
        let path = resolvedPath(configuration.path)
        // Without a journal beside it SQLite would have to create one, unless it takes the file for immutable; with one
        // it would have to lock the file for writing, unless it takes locks for needless.
        let option = FileIdentity(path + "-wal") == nil ? "immutable=1" : "vfs=unix-none"
        do throws(SQLiteError) {
            let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))?\(option)"
            let connection = try SQLiteConnection(name: address, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            try StorageDatabase.configure(connection)
            let applicationID = try connection.integer("PRAGMA application_id")
            guard
                try StorageDatabase.refusal(of: connection, applicationID: applicationID, schema: .current) == nil,
                try connection.integer("PRAGMA user_version") == StorageSchema.current.version
            else { return StorageContent() }
            let scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'")
            var content = try StorageContent(connection, scale: scale, configuration)
            for index in content.cities.indices {
                content.cities[index].better = 0
                content.cities[index].worse = 0
            }
            return content.pointsAreInOrder ? content : StorageContent()
        } catch {
            return StorageContent()
        }
    }
}

extension StoredCity {
    /// Nil when a value does not fit its type.
    fileprivate init?(_ row: borrowing SQLiteStatement) {
        guard let category = UInt8(exactly: row.integer(5)), let direction = Int8(exactly: row.integer(6)),
            let better = UInt64(exactly: row.integer(8)), let worse = UInt64(exactly: row.integer(9))
        else { return nil }
        self.init(
            name: row.bytes(1), index: row.double(2), updatedAt: row.integer(3), receivedAt: row.integer(4),
            category: category, direction: direction, changedAt: row.isNull(7) ? nil : row.integer(7), better: better,
            worse: worse)
    }
}
