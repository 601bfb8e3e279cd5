internal import AirQuality

/// A layout of the file.
///
/// It is read with SQLite's own tools: `sqlite3 FILE "SELECT datetime(time_ms / 1000, 'unixepoch'), name, aqi FROM reading
/// JOIN city ON city.id = reading.city"`. While the exporter runs, it has the file locked: copy `FILE` and `FILE-wal`, and
/// read the copy.
///
/// Readings are sorted by time, so that new ones of all cities share pages, and so do those that leave the history
/// together. SQLite writes whole pages.
struct StorageSchema: Sendable {
    /// "AQIX" in the file's header marks it as ours.
    static let applicationID: Int64 = 0x4151_4958

    /// In the file's header as `user_version`.
    var version: Int64
    var creation: String
    var tables: [String]
    /// Selects time, city, index, arrival (NULL: the time) and whether it is kept as a point.
    var readings: String

    /// Version 2 was never released.
    static let current = StorageSchema(
        version: 3,
        // The names are those of the history document.
        creation: """
            CREATE TABLE city (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                category INTEGER NOT NULL,
                direction INTEGER NOT NULL,
                changed_ms INTEGER,
                better INTEGER NOT NULL,
                worse INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE reading (
                time_ms INTEGER NOT NULL,
                city INTEGER NOT NULL,
                aqi REAL NOT NULL,
                received_ms INTEGER,
                kept INTEGER NOT NULL,
                PRIMARY KEY (time_ms, city)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE setting (
                name TEXT PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            """, tables: ["city", "reading", "setting"],
        readings: "SELECT time_ms, city, aqi, received_ms, kept FROM reading ORDER BY time_ms, city")

    /// Of the releases 0.1: a page for each city's points.
    static let first = StorageSchema(
        version: 1,
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
            """, tables: ["city", "point", "setting"],
        readings: """
            SELECT time_ms, city, aqi, NULL, 1 FROM point
            UNION ALL SELECT updated_ms, id, aqi, received_ms, 0 FROM city
            """)

    static let all = [first, current]

    /// Whether the file's tables are these, to the letter but for white space. Nothing in the file is evaluated before
    /// that is known: a check or a generated column may have been put there on purpose.
    func isThat(of connection: borrowing SQLiteConnection) throws(StorageError) -> Bool {
        // An index that is said to be of another table goes unnoticed until SQLite opens the file once more.
        let statement = try connection.prepare(
            """
            SELECT CASE WHEN type = 'table' AND tbl_name = name THEN sql ELSE type || name || tbl_name END
            FROM sqlite_schema ORDER BY type DESC, name
            """)
        var tables: [UInt8] = []
        while try statement.step() { tables += statement.bytes(0) + [UInt8(ascii: ";")] }
        func condensed(_ text: some Sequence<UInt8>) -> [UInt8] { text.filter { $0 > UInt8(ascii: " ") } }
        return condensed(tables) == condensed((creation + "indexsqlite_autoindex_city_1city;").utf8)
    }
}

extension StorageChanges {
    /// Writes them; in a transaction of the caller's.
    func write(to connection: borrowing SQLiteConnection) throws(StorageError) {
        let removeCity = try connection.prepare("DELETE FROM city WHERE id = ?1")
        for id in removed {
            removeCity.bind(id, at: 1)
            try removeCity.run()
        }
        var setBack: [Int64: Timestamp] = [:]
        for city in cities { setBack[city.id] = city.removedFrom }
        var next = setBack.values.min().map { StoredKey(time: $0, city: .min) }
        while let key = next {
            next = try connection.removeReadings(after: key, upTo: .max, limit: 50_000) { key, _ in
                setBack[key.city].map { key.time >= $0 } ?? false
            }
        }
        let insert = try connection.prepare(
            """
            INSERT INTO city (id, name, category, direction, changed_ms, better, worse)
            VALUES (?1, ?7, ?2, ?3, ?4, ?5, ?6)
            """)
        let update = try connection.prepare(
            """
            UPDATE city SET category = ?2, direction = ?3, changed_ms = ?4, better = ?5, worse = ?6 WHERE id = ?1
            """)
        let removeReading = try connection.prepare(StoredKey.removal)
        let insertReading = try connection.prepare("INSERT OR REPLACE INTO reading VALUES (?1, ?2, ?3, ?4, ?5)")
        for city in cities {
            if let name = city.name {
                insert.bind(text: name, at: 7)
                try city.write(with: insert)
            } else if city.hasNewCategory {
                try city.write(with: update)
            }
            if let time = city.replacedAt { try StoredKey(time: time, city: city.id).run(removeReading) }
            insertReading.bind(city.id, at: 2)
            for reading in city.readings {
                insertReading.bind(reading.time, at: 1)
                insertReading.bind(reading.index, at: 3)
                insertReading.bind(reading.receivedAt == reading.time ? nil : reading.receivedAt, at: 4)
                insertReading.bind(reading.isKept ? 1 : 0 as Int64, at: 5)
                try insertReading.run()
            }
        }
    }
}

extension StorageChanges.ChangedCity {
    fileprivate func write(with statement: borrowing SQLiteStatement) throws(StorageError) {
        statement.bind(id, at: 1)
        statement.bind(Int64(category), at: 2)
        statement.bind(Int64(changes.direction), at: 3)
        statement.bind(changes.changedAt, at: 4)
        statement.bind(Int64(clamping: changes.better), at: 5)
        statement.bind(Int64(clamping: changes.worse), at: 6)
        try statement.run()
    }
}

extension SQLiteConnection {
    /// Looks at the readings behind a key, in order, and removes some.
    ///
    /// - Returns: the last one looked at; nil when none is left.
    func removeReadings(
        after key: StoredKey, upTo end: Timestamp, limit: Int,
        where isUnwanted: (_ key: StoredKey, _ isKept: Bool) throws(StorageError) -> Bool
    ) throws(StorageError) -> StoredKey? {
        let readings = try prepare(
            """
            SELECT time_ms, city, kept FROM reading WHERE (time_ms, city) > (?1, ?2) AND time_ms <= ?3
            ORDER BY time_ms, city LIMIT ?4
            """)
        var unwanted: [StoredKey] = []
        var (last, count) = (key, 0)
        readings.bind(key.time, at: 1)
        readings.bind(key.city, at: 2)
        readings.bind(end, at: 3)
        readings.bind(Int64(limit), at: 4)
        while try readings.step() {
            last = StoredKey(time: readings.integer(0), city: readings.integer(1))
            count += 1
            if try isUnwanted(last, readings.integer(2) != 0) { unwanted.append(last) }
        }
        readings.reset()
        let remove = try prepare(StoredKey.removal)
        for key in unwanted { try key.run(remove) }
        return count == limit ? last : nil
    }
}

/// Sort key of readings.
struct StoredKey: Equatable {
    var time: Timestamp
    /// The city's id.
    var city: Int64

    /// Before all others.
    static let first = StoredKey(time: .min, city: .min)

    /// For ``run(_:)``.
    fileprivate static let removal = "DELETE FROM reading WHERE time_ms = ?1 AND city = ?2"

    fileprivate func run(_ statement: borrowing SQLiteStatement) throws(StorageError) {
        statement.bind(time, at: 1)
        statement.bind(city, at: 2)
        try statement.run()
    }
}
