internal import Bytes
internal import CSQLite
internal import System

/// The open file, locked against other processes. Used by one thread at a time.
///
/// SQLite writes to a write-ahead log beside the file first, the journal, and moves it into the file at times.
///
/// SQLite's exclusive locking mode holds the file's lock for the life of the connection; the kernel gives it up with the
/// process, however it ends. It also keeps the index of the journal in memory instead of in a mapped file, so that a
/// full disk or a truncated file is an error code and never a signal.
///
/// A committed transaction is in the kernel's cache and survives the end of the process. A loss of power loses at most
/// what was committed since the last checkpoint, and does not damage the file (`synchronous=NORMAL`).
struct StorageDatabase: ~Copyable {
    /// There was no file, or an empty one.
    let isNew: Bool
    private var size: Size
    /// The scale that the rows were written under.
    let scale: String?
    private let configuration: StorageConfiguration
    private let connection: SQLiteConnection
    private let statements: StorageStatements
    private let journalName: String
    private let journalIdentity: FileIdentity?

    /// How much is in the file.
    private struct Size {
        var cities = 0
        /// Rows of points and records of the log, those included that are not needed any more.
        var records = 0
        /// Rows of the log.
        var logRows = 0
    }

    /// Opens a regular file, or creates one.
    static func open(
        _ configuration: StorageConfiguration, schema: StorageSchema = .current
    ) throws(StorageRefusal) -> StorageDatabase {
        let result: Result<StorageDatabase, StorageRefusal>
        do throws(SQLiteError) {
            result = try attempt(configuration, schema: schema)
        } catch {
            throw StorageRefusal(error)
        }
        return try result.get()
    }

    private static func attempt(
        _ configuration: StorageConfiguration, schema: StorageSchema
    ) throws(SQLiteError) -> Result<StorageDatabase, StorageRefusal> {
        let connection = try SQLiteConnection(
            name: literalName(configuration.path), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // A header can declare a file read-only as well; ours never does.
        let readOnly =
            isWritable(connection.fileName)
            ? StorageRefusal.damaged("its header says that it is read-only") : .unavailable("the file is read-only")
        let tableCount: Int64
        do throws(SQLiteError) {
            try configure(connection)
            // The first read takes the lock, or fails because it is taken.
            tableCount = try connection.integer("SELECT count(*) FROM sqlite_schema")
        } catch {
            // SQLite's error for locking a read-only file does not give the reason.
            if error.isOutside, connection.isReadOnly { return .failure(readOnly) }
            throw error
        }
        if connection.isReadOnly { return .failure(readOnly) }
        let applicationID = try connection.integer("PRAGMA application_id")
        let isNew = tableCount == 0 && applicationID == 0
        if !isNew {
            if let refusal = try refusal(of: connection, applicationID: applicationID, schema: schema) {
                return .failure(refusal)
            }
        }
        guard try connection.text("PRAGMA journal_mode=WAL") == "wal" else {
            return .failure(.unavailable("SQLite cannot keep a write-ahead log there"))
        }
        if isNew {
            try create(schema, scale: configuration.scale, in: connection)
        } else {
            try migrate(connection, to: schema)
        }
        try resetUncertainCounters(connection)
        return .success(try StorageDatabase(connection, configuration, isNew: isNew))
    }

    private init(
        _ connection: consuming SQLiteConnection, _ configuration: StorageConfiguration, isNew: Bool
    ) throws(SQLiteError) {
        let scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'")
        let statements = try StorageStatements.prepare(connection)
        let logRows = Int(try connection.integer("SELECT count(*) FROM log"))
        self.isNew = isNew
        size = Size(logRows: logRows)
        self.scale = scale
        self.statements = statements
        self.configuration = configuration
        journalName = connection.fileName + "-wal"
        journalIdentity = FileIdentity(journalName)
        self.connection = connection
    }

    // MARK: Opening

    static func configure(_ connection: borrowing SQLiteConnection) throws(SQLiteError) {
        // Until the file is known to be sound and ours, closing it must change nothing.
        connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        // Nothing in the file is executed: it may have been damaged on purpose.
        connection.set(SQLITE_DBCONFIG_DEFENSIVE, true)
        connection.set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        connection.set(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
        connection.set(SQLITE_DBCONFIG_ENABLE_VIEW, false)
        // Long enough for a short look with another tool.
        connection.setBusyTimeout(milliseconds: 250)
        try connection.execute(
            """
            PRAGMA page_size=\(pageSize);
            PRAGMA locking_mode=EXCLUSIVE;
            PRAGMA synchronous=NORMAL;
            PRAGMA mmap_size=0;
            PRAGMA cell_size_check=ON;
            PRAGMA cache_size=-\(cacheKibibytes);
            PRAGMA temp_store=MEMORY;
            PRAGMA wal_autocheckpoint=0;
            PRAGMA journal_size_limit=\(journalPageLimit * pageSize);
            """)
    }

    /// Why the file cannot be used; nil when it can.
    static func refusal(
        of connection: borrowing SQLiteConnection, applicationID: Int64, schema: StorageSchema
    ) throws(SQLiteError) -> StorageRefusal? {
        guard applicationID == StorageSchema.applicationID else {
            let ourTables = try connection.integer(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('city', 'point', 'setting')")
            return ourTables == 3 ? .damaged("its application_id is \(applicationID)") : .foreign
        }
        let version = try connection.integer("PRAGMA user_version")
        if version > schema.version { return .newer(version: version) }
        if version < 1 { return .damaged("its user_version is \(version)") }
        let findings = [
            try connection.text("PRAGMA quick_check(1)"),
            // The quick check does not compare indices with their tables.
            try connection.text("PRAGMA integrity_check(city)"),
        ]
        return findings.compactMap { $0 }.first { $0 != "ok" }.map { .damaged(onOneLine($0)) }
    }

    private static func create(
        _ schema: StorageSchema, scale: String, in connection: borrowing SQLiteConnection
    ) throws(SQLiteError) {
        try transaction(connection) { () throws(SQLiteError) in
            try connection.execute(schema.creation)
            try connection.execute("PRAGMA application_id=\(StorageSchema.applicationID)")
            try connection.execute("PRAGMA user_version=\(schema.version)")
            try set(scale: scale, in: connection)
        }
    }

    /// All steps or none.
    private static func migrate(
        _ connection: borrowing SQLiteConnection, to schema: StorageSchema
    ) throws(SQLiteError) {
        let version = try connection.integer("PRAGMA user_version")
        guard version < schema.version else { return }
        try transaction(connection) { () throws(SQLiteError) in
            for step in version + 1...schema.version {
                try connection.execute(schema.migrations[step]!)
            }
            try connection.execute("PRAGMA user_version=\(schema.version)")
        }
    }

    /// Counters restart at 0 unless the file was closed with their last values. Prometheus takes any decrease for a
    /// reset to 0: after a decrease by 1 it would count the whole remaining value once more.
    private static func resetUncertainCounters(_ connection: borrowing SQLiteConnection) throws(SQLiteError) {
        try transaction(connection) { () throws(SQLiteError) in
            if try connection.text("SELECT value FROM setting WHERE name = 'closed'") == nil {
                try connection.execute("UPDATE city SET better = 0, worse = 0 WHERE better > 0 OR worse > 0")
                if try connection.integer("SELECT EXISTS (SELECT 1 FROM log)") == 1 {
                    var records = StorageLogWriter()
                    records.append(.countersBeginAnew)
                    try StorageStatements.prepare(connection).append(records)
                }
            }
            try connection.execute("DELETE FROM setting WHERE name = 'closed'")
        }
    }

    private static func set(scale: String, in connection: borrowing SQLiteConnection) throws(SQLiteError) {
        let statement = try connection.prepare("INSERT OR REPLACE INTO setting VALUES ('scale', ?1)")
        statement.bind(text: Array(scale.utf8), at: 1)
        try statement.run()
    }

    private static func transaction(
        _ connection: borrowing SQLiteConnection, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        do throws(SQLiteError) {
            try connection.execute("BEGIN IMMEDIATE")
            try body()
            try connection.execute("COMMIT")
        } catch {
            // Fails when SQLite has rolled back already, which is not an error here.
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    // MARK: Reading

    /// All cities, each with its newest points.
    func content() throws(StorageRefusal) -> StorageContent {
        let content: StorageContent
        do throws(SQLiteError) {
            content = try StorageContent(connection, scale: scale, configuration)
        } catch {
            throw StorageRefusal(error)
        }
        guard content.pointsAreInOrder else { throw .damaged("points are out of order") }
        return content
    }

    /// What the content says about how much is in the file.
    mutating func noteSize(of content: StorageContent) {
        size.cities = content.cities.count
        size.records = content.recordCount
    }

    // MARK: Writing

    /// One transaction: all of the batch or nothing.
    ///
    /// - Parameters:
    ///   - isWhole: the batch has everything there is, so it may become rows of their own.
    ///   - replacesAll: the batch replaces everything in the file, and its scale.
    mutating func write(_ batch: StorageBatch, isWhole: Bool, replacesAll: Bool) throws(SQLiteError) {
        var size = replacesAll ? Size() : size
        try Self.transaction(connection) { () throws(SQLiteError) in
            if replacesAll {
                try connection.execute("DELETE FROM log; DELETE FROM point; DELETE FROM city")
                try Self.set(scale: configuration.scale, in: connection)
            }
            let cities = batch.cities.filter { $0.isPlausible(within: configuration.limits) }
            if isWhole, size.logRows == 0 {
                for name in batch.removed {
                    if let number = try statements.number(of: name) { try statements.removeRows(of: number) }
                }
                for city in cities {
                    try statements.writeRows(of: city, configuration)
                    size.records += city.points.count
                }
                size.cities = max(size.cities, cities.count)
            } else {
                try append(cities, removed: batch.removed, size: &size)
            }
        }
        self.size = size
    }

    private func append(
        _ cities: [StoredCity], removed: [[UInt8]] = [], size: inout Size
    ) throws(SQLiteError) {
        var log = StorageLogWriter()
        func writeRow() throws(SQLiteError) {
            try statements.append(log)
            size.records += log.count
            if !log.isEmpty { size.logRows += 1 }
            log = StorageLogWriter()
        }
        for name in removed {
            guard let number = try statements.number(of: name) else { continue }
            try statements.removeRows(of: number)
            log.append(.removal(city: number))
            size.cities -= 1
        }
        for city in cities {
            if let number = try statements.number(of: city.name) {
                log.append(city, number: number, within: configuration.limits)
            } else {
                try statements.writeRow(city)
                size.cities += 1
                log.append(city.points[...], of: connection.lastRow, within: configuration.limits)
            }
            if log.byteCount >= Self.usualRowLength { try writeRow() }
        }
        try writeRow()
    }

    // MARK: Trimming

    /// Whether the file has several times what the cities can have at most.
    var isTooLong: Bool {
        size.records > max(Self.usualRecordCount, 3 * size.cities * (configuration.capacity + 1))
    }

    /// A trimming in parts: each writes some cities once more, with all of their points, and after the last one all that
    /// was written before the first is dropped. So a batch never waits for long.
    struct Trimming {
        fileprivate let firstRow: Int64
        fileprivate var logRows: Int
        fileprivate var records: Int
    }

    func beginTrimming() throws(SQLiteError) -> Trimming {
        let last = try connection.integer("SELECT max(id) FROM log")
        return Trimming(firstRow: last + 1, logRows: size.logRows, records: size.records)
    }

    mutating func trim(_ trimming: Trimming, _ cities: [StoredCity], isLast: Bool) throws(SQLiteError) {
        var size = size
        try Self.transaction(connection) { () throws(SQLiteError) in
            try append(cities.filter { $0.isPlausible(within: configuration.limits) }, size: &size)
            guard isLast else { return }
            try connection.execute("DELETE FROM point; DELETE FROM log WHERE id < \(trimming.firstRow)")
            size.logRows -= trimming.logRows
            size.records -= trimming.records
        }
        self.size = size
    }

    /// Pages written to the journal since the last call.
    func takeWrittenPageCount() -> Int { connection.takeWrittenPageCount() }

    /// Moves the journal's pages into the file and syncs both.
    func checkpoint() throws(SQLiteError) { try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

    /// Whether the file or its journal was removed, renamed or replaced.
    var hasMoved: Bool {
        connection.hasMoved || FileIdentity(journalName) != journalIdentity
    }

    // MARK: Closing

    /// Leaves one file and no journal.
    ///
    /// - Parameter hasAll: whether the file has the last values of the counters.
    consuming func closeComplete(hasAll: Bool) {
        if hasAll {
            // If this fails, the log stays.
            if size.logRows > 0, size.records <= Self.usualRecordCount { try? moveLogToRows() }
            // If this fails, the counters restart at 0.
            try? connection.execute("INSERT INTO setting VALUES ('closed', 'with all counters')")
        }
        connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
    }

    /// Writes all that the log says into rows of their own.
    private func moveLogToRows() throws(SQLiteError) {
        let content = try StorageContent(connection, scale: scale, configuration)
        guard content.skippedRows == 0 else { return }
        try Self.transaction(connection) { () throws(SQLiteError) in
            try connection.execute("DELETE FROM log; DELETE FROM point")
            for city in content.cities { try statements.writeRows(of: city, configuration) }
        }
    }

    /// Moves the journal into the file, wherever that is now, and removes the journal: SQLite would apply it to the next
    /// file of this name.
    consuming func closeMoved() {
        // If this fails, the next file gets everything from memory anyway.
        try? connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
        if let journalIdentity, FileIdentity(journalName) == journalIdentity {
            removeFile(journalName)
        }
    }

    /// A file with up to this many records is not trimmed, and a regular shutdown moves its log into rows.
    private static let usualRecordCount = 100_000
    /// Bytes at which a row of the log ends, after the points of a city. SQLite takes rows of up to 10⁹ bytes
    /// (`SQLITE_MAX_LENGTH`), and a large memory that is written whole would be more.
    private static let usualRowLength = 4 << 20
    /// SQLite's smallest: what few cities append is little, and pages are written whole.
    private static let pageSize = 512
    /// 64 MiB; a larger journal is moved into the file early.
    static let journalPageLimit = 64 * 1024 * 1024 / pageSize
    /// Enough for the pages of a batch of 100,000 cities; SQLite allocates only what is used.
    private static let cacheKibibytes = 32 * 1024
}
