/// What is in the file, for SQLite's own tools as well: `sqlite3 FILE 'SELECT …'` while the exporter is stopped.
struct StorageSchema: Sendable {
    /// "AQIX"; in the file's header, so that it is known as ours.
    static let applicationID: Int64 = 0x4151_4958

    /// In the file's header as `user_version`; counts from 1.
    var version: Int64
    var creation: String
    /// What turns the version before into this one.
    var migrations: [Int64: String]

    // The names are those of the history document.
    static let current = StorageSchema(
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
            """,
        migrations: [:])
}
