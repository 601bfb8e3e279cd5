internal import AirQuality
internal import Bytes
internal import CSQLite
internal import System

/// The open file, locked against other processes. Used by one thread at a time.
///
/// SQLite's exclusive locking mode holds the lock for the life of the connection; the kernel gives it up with the
/// process, however that ends. It also keeps the index of the journal in memory instead of in a mapped file, so that a
/// full disk or a truncated file is an error code and never a signal. A committed transaction is in the kernel's cache
/// and survives the end of the process.
struct StorageDatabase: ~Copyable {
    /// Whether there was no file, or an empty one.
    let isNew: Bool
    private let connection: SQLiteConnection
    /// The path without symbolic links, which SQLite follows with some 4 KiB of stack for each.
    private let path: String
    /// The file and its journal as they were left.
    private var stamps: [FileStamp?] = []
    /// SQLite's counter of changed rows at the last eviction.
    private var evictedCount: Int64 = 0

    /// Opens a regular file and checks it, or creates one. A file that cannot be written can be read.
    static func open(_ name: String) throws(StorageError) -> StorageDatabase {
        let head = try StorageHead(name)
        if head?.isCrowded == true { throw .damaged("it is damaged: it has more tables than ours") }
        let path = resolvedPath(name)
        let isReadOnly = head != nil && !isWritable(path)
        // Without a journal, SQLite would create one unless the file is declared immutable. With a journal, it would
        // lock the file for writing unless locks are switched off.
        let option = FileIdentity(path + "-wal") == nil ? "?immutable=1" : "?vfs=unix-none"
        let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))\(isReadOnly ? option : "")"
        let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let connection = try SQLiteConnection(name: address, flags: mode | SQLITE_OPEN_URI)
        let isNew = try isEmpty(connection, head)
        if !isReadOnly {
            guard !connection.isReadOnly else { throw .damaged("it is damaged: its header says that it is read-only") }
            guard try connection.text("PRAGMA journal_mode=WAL") == "wal" else {
                throw .unavailable("SQLite cannot keep a write-ahead log there")
            }
            if isNew { try create(connection) }
        }
        return StorageDatabase(isNew: isNew, connection: connection, path: path)
    }

    private static func create(_ connection: borrowing SQLiteConnection) throws(StorageError) {
        try connection.transaction { () throws(StorageError) in
            try connection.execute(StorageSchema.creation)
            try connection.execute("PRAGMA application_id=\(StorageSchema.applicationID)")
            try connection.execute("PRAGMA user_version=\(StorageSchema.version)")
        }
        // Now the file says by itself whose it is, without its journal.
        try connection.execute("PRAGMA wal_checkpoint")
    }

    /// Takes the lock and checks the whole file.
    ///
    /// - Returns: whether nothing is in it; otherwise it is sound and of the current version.
    private static func isEmpty(
        _ connection: borrowing SQLiteConnection, _ head: StorageHead?
    ) throws(StorageError) -> Bool {
        connection.harden()
        let applicationID: String
        let isOurs: Bool
        do throws(StorageError) {
            try connection.execute(
                """
                PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON;
                PRAGMA temp_store=MEMORY
                """)
            // The first read takes the lock, or fails because it is taken.
            applicationID = try connection.text("PRAGMA application_id")
            let tableCount = try connection.text("SELECT count(*) FROM sqlite_schema")
            if applicationID == "0", tableCount == "0" { return true }
            isOurs = try StorageSchema.isThat(of: connection)
        } catch {
            if case .damaged = error, head?.isForeign == true { throw .foreign }
            throw error
        }
        guard applicationID == String(StorageSchema.applicationID) else {
            throw isOurs ? .damaged("it is damaged: its application_id is \(applicationID)") : .foreign
        }
        let version = try Int(connection.text("PRAGMA user_version")) ?? 0
        try StorageSchema.check(version: version)
        guard isOurs else { throw .damaged("it is damaged: its tables are not those of version \(version)") }
        let finding = try connection.text("PRAGMA quick_check(1)")
        if finding != "ok" { throw .damaged("it is damaged: \(onOneLine(finding))") }
        return false
    }

    func read(_ rules: StoreRules) throws(StorageError) -> StorageContent { try StorageContent(connection, rules) }

    /// Notes that the counters in the file are no longer the last ones.
    mutating func resetCounters() throws(StorageError) {
        try connection.execute("UPDATE city SET better = NULL, worse = NULL WHERE better NOTNULL OR worse NOTNULL")
        stamps = currentStamps
    }

    private init(isNew: Bool, connection: consuming SQLiteConnection, path: String) {
        self.isNew = isNew
        self.connection = connection
        self.path = path
    }

    // MARK: Writing

    /// Whether somebody else has written, truncated, removed or replaced the file or its journal.
    var isChanged: Bool { stamps != currentStamps }

    private var currentStamps: [FileStamp?] { [FileStamp(path), FileStamp(path + "-wal")] }

    /// Writes all that `body` does, or nothing.
    ///
    /// - Returns: whether anything was changed.
    mutating func write(
        _ body: (_ rows: borrowing StorageRows) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        // Also when it fails: a full disk has taken a part.
        defer { stamps = currentStamps }
        let before = connection.changeCount
        let rows = try StorageRows(connection)
        try connection.transaction { () throws(StorageError) in try body(rows) }
        return connection.changeCount > before
    }

    /// Number of rows changed since the last eviction.
    var unevictedCount: Int64 { connection.changeCount - evictedCount }

    /// Removes all cities but the given ones and all readings but theirs; then moves the journal into the file and
    /// syncs both, so that a loss of power takes no more than what comes after.
    ///
    /// - Parameter oldest: by the city's id, the time before which readings are to go.
    mutating func evict(_ oldest: [Int64: Timestamp]) throws(StorageError) {
        defer { stamps = currentStamps }
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS known (id INTEGER PRIMARY KEY, oldest_ms INTEGER)")
        let insert = try connection.prepare("INSERT INTO known VALUES (?, ?)")
        try connection.transaction { () throws(StorageError) in
            for (id, time) in oldest { try insert.run(.integer(id), .integer(time)) }
            try connection.execute(
                """
                DELETE FROM city WHERE id NOT IN (SELECT id FROM known);
                DELETE FROM reading WHERE NOT EXISTS (SELECT 1 FROM known WHERE id = city AND time_ms >= oldest_ms);
                DELETE FROM known;
                """)
        }
        try connection.execute("PRAGMA wal_checkpoint")
        evictedCount = connection.changeCount
    }

    // MARK: Closing

    /// Leaves one file and no journal.
    consuming func close() { connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false) }

    /// Closes a file that somebody else has changed. SQLite would apply its journal to what has its name now.
    consuming func abandon() {
        if FileStamp(path + "-wal") == stamps[1] { removeFile(path + "-wal") }
    }
}
