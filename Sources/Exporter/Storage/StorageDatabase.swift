internal import AirQuality
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
    private(set) var schema: StorageSchema
    private let connection: SQLiteConnection
    private let journalName: String
    private let journalIdentity: FileIdentity?

    private init(_ connection: consuming SQLiteConnection, _ schema: StorageSchema, isNew: Bool) {
        self.isNew = isNew
        self.schema = schema
        journalName = connection.fileName + "-wal"
        journalIdentity = FileIdentity(journalName)
        self.connection = connection
    }

    // MARK: Opening

    /// Opens a regular file and reads it, or creates one.
    ///
    /// - Parameter name: as SQLite takes names of files.
    static func open(_ name: String, rules: StoreRules) throws(StorageError) -> OpenedStorage {
        let connection = try SQLiteConnection(name: name, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // A header can declare a file read-only as well; ours never does.
        let readOnly =
            isWritable(connection.fileName)
            ? StorageError.damaged("its header says that it is read-only") : .unavailable("the file is read-only")
        let tableCount: Int64
        do throws(StorageError) {
            try configure(connection)
            // The first read takes the lock, or fails because it is taken.
            tableCount = try connection.integer("SELECT count(*) FROM sqlite_schema")
        } catch {
            // SQLite's error for locking a read-only file does not give the reason.
            switch error {
            case .unavailable, .full: throw connection.isReadOnly ? readOnly : error
            default: throw error
            }
        }
        if connection.isReadOnly { throw readOnly }
        let applicationID = try connection.integer("PRAGMA application_id")
        let isNew = tableCount == 0 && applicationID == 0
        let schema = isNew ? .current : try Self.schema(of: connection)
        guard try connection.text("PRAGMA journal_mode=WAL") == "wal" else {
            throw .unavailable("SQLite cannot keep a write-ahead log there")
        }
        if isNew {
            let scale = rules.scale.name
            try transaction(connection) { () throws(StorageError) in try create(scale: scale, in: connection) }
            // Now the file says by itself whose it is, without its journal.
            try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        }
        var content = try StorageContent(connection, schema, capacity: rules.history.capacity)
        guard content.isInOrder else { throw .damaged("points are out of order") }
        let closed = try connection.text("SELECT value FROM setting WHERE name = 'closed'")
        if let closed, schema.version > 1, closed != String(content.checksum, radix: 16) {
            throw .damaged("its rows are not those that were written, by their checksum")
        }
        if closed == nil { content.forgetCounters() }
        try resetCounters(connection, unless: closed != nil)
        return OpenedStorage(database: StorageDatabase(connection, schema, isNew: isNew), content: content)
    }

    static func configure(_ connection: borrowing SQLiteConnection) throws(StorageError) {
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

    /// The schema of a file, or why the file cannot be used. Checks the whole file.
    static func schema(of connection: borrowing SQLiteConnection) throws(StorageError) -> StorageSchema {
        let applicationID = try connection.integer("PRAGMA application_id")
        var found: StorageSchema?
        for schema in StorageSchema.all where try schema.isThat(of: connection) { found = schema }
        guard applicationID == StorageSchema.applicationID else {
            throw found == nil ? .foreign : .damaged("its application_id is \(applicationID)")
        }
        let version = try connection.integer("PRAGMA user_version")
        try check(version: version)
        guard let found, found.version == version else {
            throw .damaged("its tables are not those of version \(version)")
        }
        let findings = [
            try connection.text("PRAGMA quick_check(1)"),
            // The quick check does not compare indices with their tables.
            try connection.text("PRAGMA integrity_check(city)"),
        ]
        guard let finding = findings.compactMap({ $0 }).first(where: { $0 != "ok" }) else { return found }
        throw .damaged(onOneLine(finding))
    }

    static func check(version: Int64) throws(StorageError) {
        if StorageSchema.all.contains(where: { $0.version == version }) { return }
        if version < 1 { throw .damaged("its user_version is \(version)") }
        throw version > StorageSchema.current.version ? .newer(version: version) : .unreleased(version: version)
    }

    private static func create(scale: String, in connection: borrowing SQLiteConnection) throws(StorageError) {
        try connection.execute(StorageSchema.current.creation)
        try connection.execute("PRAGMA application_id=\(StorageSchema.applicationID)")
        try connection.execute("PRAGMA user_version=\(StorageSchema.current.version)")
        try set("scale", scale, in: connection)
    }

    private static func set(
        _ name: String, _ value: String, in connection: borrowing SQLiteConnection
    ) throws(StorageError) {
        let statement = try connection.prepare("INSERT OR REPLACE INTO setting VALUES (?1, ?2)")
        statement.bind(text: Array(name.utf8), at: 1)
        statement.bind(text: Array(value.utf8), at: 2)
        try statement.run()
    }

    /// Counters restart at 0 unless the file was closed with their last values. Prometheus takes any decrease for a
    /// reset to 0: after a decrease by 1 it would count the whole remaining value once more.
    private static func resetCounters(
        _ connection: borrowing SQLiteConnection, unless wasClosed: Bool
    ) throws(StorageError) {
        try transaction(connection) { () throws(StorageError) in
            if !wasClosed {
                try connection.execute("UPDATE city SET better = 0, worse = 0 WHERE better > 0 OR worse > 0")
            }
            try connection.execute("DELETE FROM setting WHERE name = 'closed'")
        }
    }

    private static func transaction(
        _ connection: borrowing SQLiteConnection, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) {
            try connection.execute("BEGIN IMMEDIATE")
            try body()
            try connection.execute("COMMIT")
        } catch {
            // Fails when SQLite has rolled back already, which is not an error here.
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    // MARK: Writing

    /// Writes all changes or none, in one transaction.
    func write(_ changes: StorageChanges) throws(StorageError) {
        try Self.transaction(connection) { () throws(StorageError) in try changes.write(to: connection) }
    }

    /// Replaces everything in the file, in one transaction.
    mutating func replaceAll(with changes: StorageChanges, scale: String) throws(StorageError) {
        let tables = schema.tables
        try Self.transaction(connection) { () throws(StorageError) in
            for table in tables { try connection.execute("DROP TABLE \(table)") }
            try Self.create(scale: scale, in: connection)
            try changes.write(to: connection)
        }
        schema = .current
    }

    /// Removes readings that memory does not have any more, and those of cities that are gone: some at a time, so that
    /// no batch waits for long.
    ///
    /// - Parameter oldest: see ``StorageMirror/oldestPoints(in:)``.
    /// - Returns: where to go on; nil at the end.
    func clean(
        after key: StoredKey, upTo end: Timestamp, limit: Int, oldest: [Int64: Timestamp]
    ) throws(StorageError) -> StoredKey? {
        var next: StoredKey?
        let findCity = try connection.prepare("SELECT 1 FROM city WHERE id = ?1")
        try Self.transaction(connection) { () throws(StorageError) in
            next = try connection.removeReadings(after: key, upTo: end, limit: limit) {
                (key, isKept) throws(StorageError) in
                if let oldest = oldest[key.city] { return isKept && key.time < oldest }
                findCity.bind(key.city, at: 1)
                defer { findCity.reset() }
                return try !findCity.step()
            }
        }
        return next
    }

    /// Pages written to the journal since the last call.
    func takeWrittenPageCount() -> Int { connection.takeWrittenPageCount() }

    /// Moves the journal's pages into the file and syncs both.
    func checkpoint() throws(StorageError) { try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

    /// Whether the file or its journal was removed, renamed or replaced.
    var hasMoved: Bool { connection.hasMoved || FileIdentity(journalName) != journalIdentity }

    // MARK: Closing

    /// Leaves one file and no journal.
    ///
    /// - Parameter hasAll: whether the file has the last values of the counters.
    consuming func closeComplete(hasAll: Bool) {
        // If this fails, the counters restart at 0.
        if hasAll, let checksum = try? StorageContent.scan(connection, schema) {
            try? Self.set("closed", String(checksum, radix: 16), in: connection)
        }
        connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
    }

    /// Moves the journal into the file, wherever that is now, and removes the journal: SQLite would apply it to the next
    /// file of this name.
    consuming func closeMoved() {
        // If this fails, the next file gets everything from memory anyway.
        try? connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
        if let journalIdentity, FileIdentity(journalName) == journalIdentity { removeFile(journalName) }
    }

    /// SQLite's smallest: a batch is little, and pages are written whole.
    private static let pageSize = 512
    /// 64 MiB; a larger journal is moved into the file early.
    static let journalPageLimit = 64 * 1024 * 1024 / pageSize
    /// Enough for the pages of a batch of 100,000 cities; SQLite allocates only what is used.
    private static let cacheKibibytes = 32 * 1024
}

/// A file that is open for writing, and what was in it.
struct OpenedStorage: ~Copyable {
    var database: StorageDatabase
    var content: StorageContent
    /// New name of the damaged file, and what was wrong with it.
    var quarantined: (path: String, reason: String)?

    /// Opens the file, or moves a damaged one aside and creates a new one.
    ///
    /// - Parameter now: milliseconds since the Unix epoch.
    static func open(
        _ path: String, rules: StoreRules, now: Int64, mayQuarantine: Bool = true
    ) throws(StorageError) -> OpenedStorage {
        let identity = FileIdentity(path)
        do throws(StorageError) {
            return try openAsItIs(path, rules)
        } catch {
            guard case .damaged(let reason) = error, mayQuarantine else { throw error }
            // Two processes may have found the same damage; the file that the other one has created is not damaged.
            guard identity != nil, FileIdentity(path) == identity else { throw error }
            let target: String
            do throws(SystemError) {
                target = try quarantine(path, now: now)
            } catch {
                throw .unavailable("it is damaged (\(reason)) and cannot be renamed: \(error.reason)")
            }
            var opened = try openAsItIs(path, rules)
            opened.quarantined = (target, reason)
            return opened
        }
    }

    private static func openAsItIs(_ path: String, _ rules: StoreRules) throws(StorageError) -> OpenedStorage {
        // Without symbolic links, which SQLite follows with some 4 KiB of stack for each.
        let name = resolvedPath(path)
        if try StorageHead(path) != nil, StorageHead.isDamagedJournal(name + "-wal") {
            throw .damaged("the head of its journal is not what was written")
        }
        return try StorageDatabase.open(literalName(name), rules: rules)
    }
}

/// SQLite gives `:memory:`, `file:…` and the empty name special meanings; this is the file of that name.
func literalName(_ path: String) -> String { path.utf8.first == UInt8(ascii: "/") ? path : "./" + path }

/// Renames a damaged file and its journals, so that they can be examined and nothing is overwritten.
///
/// - Parameter now: milliseconds since the Unix epoch.
/// - Returns: the file's new name.
private func quarantine(_ path: String, now: Int64) throws(SystemError) -> String {
    let path = resolvedPath(path)
    let stem = "\(path).damaged-\(compactTime(now))"
    var target = stem
    var count = 1
    while FileIdentity(target) != nil {
        count += 1
        target = "\(stem)-\(count)"
    }
    for suffix in ["-wal", "-shm", "-journal"] where FileIdentity(path + suffix) != nil {
        try renameFile(path + suffix, to: target + suffix)
    }
    // Last: if the process is killed in between, the next start finds the file and goes on.
    try renameFile(path, to: target)
    return target
}

/// As in 20261121T044945Z.
private func compactTime(_ milliseconds: Int64) -> String {
    var text: [UInt8] = []
    text.appendRFC3339(milliseconds)
    return String(decoding: text.prefix(19).filter { isLetterOrDigit($0) }, as: UTF8.self) + "Z"
}
