/// What is in the file, for SQLite's own tools as well: `sqlite3 FILE 'SELECT …'` while the exporter is stopped.
///
/// While the exporter runs, changes are appended to `log` in chronological order. SQLite writes whole pages, and this
/// way it writes few of them. A regular shutdown moves the log into `city` and `point` and leaves it empty, unless the
/// history is very large. New cities are added to `city` at once.
struct StorageSchema: Sendable {
    /// "AQIX" in the file's header marks it as ours.
    static let applicationID: Int64 = 0x4151_4958

    /// In the file's header as `user_version`; counts from 1.
    var version: Int64
    var creation: String
    /// By version: the statements that turn the version before into it.
    var migrations: [Int64: String]

    /// The first one that has a log.
    static let logVersion: Int64 = 2

    private static let logCreation = """
        CREATE TABLE log (
            id INTEGER PRIMARY KEY,
            records BLOB NOT NULL
        ) STRICT;
        """

    // The names are those of the history document.
    static let current = StorageSchema(
        version: logVersion,
        creation: """
            CREATE TABLE city (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                aqi REAL NOT NULL,
                updated_ms INTEGER NOT NULL,
                received_ms INTEGER NOT NULL,
                category INTEGER NOT NULL,
                direction INTEGER NOT NULL,
                changed_ms INTEGER,
                better INTEGER NOT NULL,
                worse INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE point (
                city INTEGER NOT NULL,
                time_ms INTEGER NOT NULL,
                aqi REAL NOT NULL,
                PRIMARY KEY (city, time_ms)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE setting (
                name TEXT PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            """ + logCreation,
        migrations: [logVersion: logCreation])
}

/// The statements that write a batch, prepared once.
struct StorageStatements: ~Copyable {
    private let upsertCity: SQLiteStatement
    private let findCity: SQLiteStatement
    private let insertPoint: SQLiteStatement
    private let trimPoints: SQLiteStatement
    private let removePoints: SQLiteStatement
    private let removeCity: SQLiteStatement
    private let appendToLog: SQLiteStatement

    static func prepare(_ connection: borrowing SQLiteConnection) throws(SQLiteError) -> StorageStatements {
        StorageStatements(
            upsertCity: try connection.prepare(
                """
                INSERT INTO city
                    (name, aqi, updated_ms, received_ms, category, direction, changed_ms, better, worse)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                ON CONFLICT (name) DO UPDATE SET aqi = ?2, updated_ms = ?3, received_ms = ?4, category = ?5,
                    direction = ?6, changed_ms = ?7, better = ?8, worse = ?9
                """),
            findCity: try connection.prepare("SELECT id FROM city WHERE name = ?1"),
            insertPoint: try connection.prepare("INSERT OR REPLACE INTO point VALUES (?1, ?2, ?3)"),
            trimPoints: try connection.prepare(
                """
                DELETE FROM point WHERE city = ?1 AND time_ms <= (
                    SELECT time_ms FROM point WHERE city = ?1 ORDER BY time_ms DESC LIMIT 1 OFFSET ?2)
                """),
            removePoints: try connection.prepare("DELETE FROM point WHERE city = ?1 AND time_ms >= ?2"),
            removeCity: try connection.prepare("DELETE FROM city WHERE id = ?1"),
            appendToLog: try connection.prepare("INSERT INTO log (records) VALUES (?1)"))
    }

    /// Nil when there is none of the name.
    func number(of name: [UInt8]) throws(SQLiteError) -> Int64? {
        findCity.bind(text: name, at: 1)
        defer { findCity.reset() }
        return try findCity.step() ? findCity.integer(0) : nil
    }

    func writeRow(_ city: StoredCity) throws(SQLiteError) {
        upsertCity.bind(text: city.name, at: 1)
        upsertCity.bind(city.index, at: 2)
        upsertCity.bind(city.updatedAt, at: 3)
        upsertCity.bind(city.receivedAt, at: 4)
        upsertCity.bind(Int64(city.category), at: 5)
        upsertCity.bind(Int64(city.direction), at: 6)
        upsertCity.bind(city.changedAt, at: 7)
        upsertCity.bind(Int64(city.better), at: 8)
        upsertCity.bind(Int64(city.worse), at: 9)
        try upsertCity.run()
    }

    /// The city and its points as rows of their own.
    func writeRows(of city: StoredCity, _ configuration: StorageConfiguration) throws(SQLiteError) {
        try writeRow(city)
        guard !city.points.isEmpty, let number = try number(of: city.name) else { return }
        let points = city.points.filter { $0.isPlausible(within: configuration.limits) }
        if let first = points.first { try removePoints(of: number, from: first.time) }
        insertPoint.bind(number, at: 1)
        for point in points {
            insertPoint.bind(point.time, at: 2)
            insertPoint.bind(point.index, at: 3)
            try insertPoint.run()
        }
        trimPoints.bind(number, at: 1)
        trimPoints.bind(Int64(configuration.capacity), at: 2)
        try trimPoints.run()
    }

    func removeRows(of number: Int64) throws(SQLiteError) {
        try removePoints(of: number, from: .min)
        removeCity.bind(number, at: 1)
        try removeCity.run()
    }

    private func removePoints(of number: Int64, from time: Int64) throws(SQLiteError) {
        removePoints.bind(number, at: 1)
        removePoints.bind(time, at: 2)
        try removePoints.run()
    }

    func append(_ records: StorageLogWriter) throws(SQLiteError) {
        guard !records.isEmpty else { return }
        appendToLog.bind(blob: records.row, at: 1)
        try appendToLog.run()
    }
}
