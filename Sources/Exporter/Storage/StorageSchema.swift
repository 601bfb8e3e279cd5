internal import Bytes

/// The layout of the file, for SQLite's own tools: `sqlite3 FILE "SELECT datetime(time_ms / 1000, 'unixepoch'), name,
/// reading.aqi FROM reading JOIN city ON id = city"`. A running exporter locks it: copy `FILE` and `FILE-wal` first.
enum StorageSchema {
    /// "AQIX", in the file's header.
    static let applicationID = 0x4151_4958

    /// The file's `user_version`. Files of other versions are set aside, not converted.
    static let version = 5

    /// Category changes refer to `scale`. Counters and the current reading are written at a clean stop. Counters and
    /// `received_ms` become NULL with the first write after a start: Prometheus would count an older counter value
    /// again, so counters restart at 0 after a kill. Points are sorted by time, so that new ones of all cities share
    /// pages.
    static let tables = """
        CREATE TABLE city (
            id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 1000000000000000),
            name TEXT NOT NULL,
            scale TEXT NOT NULL,
            direction INTEGER NOT NULL CHECK (direction BETWEEN -1 AND 1),
            changed_ms INTEGER CHECK (changed_ms BETWEEN 0 AND 253402300799999),
            better INTEGER CHECK (better >= 0),
            worse INTEGER CHECK (worse >= 0),
            aqi REAL CHECK (aqi BETWEEN 0 AND 9999),
            updated_ms INTEGER CHECK (updated_ms BETWEEN 0 AND 253402300799999),
            received_ms INTEGER,
            feed TEXT,
            country TEXT,
            latitude REAL CHECK (latitude BETWEEN -90 AND 90),
            longitude REAL CHECK (longitude BETWEEN -180 AND 180)
        ) STRICT;
        CREATE TABLE reading (
            time_ms INTEGER NOT NULL CHECK (time_ms BETWEEN 0 AND 253402300799999),
            city INTEGER NOT NULL CHECK (city BETWEEN 1 AND 1000000000000000),
            aqi REAL NOT NULL CHECK (aqi BETWEEN 0 AND 9999),
            PRIMARY KEY (time_ms, city)
        ) STRICT, WITHOUT ROWID;
        """

    /// Creates the tables. The checkpoint lets the file identify itself without its journal.
    static let creation = """
        BEGIN IMMEDIATE; \(tables) PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version); COMMIT;
        PRAGMA wal_checkpoint
        """

    /// Checks the whole file. Evaluates nothing in it, such as a malicious CHECK, before its tables are known to be
    /// these. Returns whether it has tables; a file without any counts as new.
    static func check(_ connection: borrowing SQLiteConnection) throws(StorageError) -> Bool {
        let applicationID = try connection.text("PRAGMA application_id")
        // `tbl_name` is checked because a wrong one goes unnoticed until SQLite next opens the file.
        let found = try connection.text(
            """
            SELECT group_concat(ifnull(CASE WHEN type = 'table' AND tbl_name = name THEN sql END, '?') || ';', char(10))
            FROM (SELECT * FROM sqlite_schema ORDER BY name LIMIT 3)
            """)
        if applicationID == "0", found.isEmpty { return false }
        let isOurs = found.utf8.elementsEqual(tables.utf8)
        guard applicationID == String(Self.applicationID) else {
            throw isOurs ? .damaged("it is damaged: its application_id is \(applicationID)") : .foreign
        }
        let version = try Int(connection.text("PRAGMA user_version")) ?? 0
        try rejectLater(version)
        guard version == Self.version else {
            throw .damaged("its schema is version \(version), that of an earlier release")
        }
        guard isOurs else { throw .damaged("it is damaged: its tables are not those of version \(version)") }
        let finding = try connection.text("PRAGMA quick_check(1)")
        if finding != "ok" { throw .damaged("it is damaged: \(onOneLine(finding))") }
        return true
    }

    static func rejectLater(_ found: Int) throws(StorageError) {
        guard found > version else { return }
        throw .rejected("its schema is version \(found), this program supports at most \(version); it was not changed")
    }
}
