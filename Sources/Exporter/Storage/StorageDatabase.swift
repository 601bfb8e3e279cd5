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
    let connection: SQLiteConnection
    /// The path without symbolic links, which SQLite follows with some 4 KiB of stack for each.
    private let path: String
    var isForeign = false
    /// The file and its journal as they were left.
    private var stamps: [FileStamp?] = []
    /// The cities in the file, by name.
    var stored: [[UInt8]: StoredCity] = [:]
    /// No city of the file has this id or a greater one.
    var nextID: Int64 = 1
    /// The file has everything up to this version of the store.
    private var writtenVersion: UInt64 = 0
    private var evictionAt: Duration = .zero

    struct StoredCity {
        /// Row id, never used for another city.
        let id: Int64
        var changes = CategoryChanges()
        var newest: HistoryPoint?

        /// The points of a history that the file does not have, by their index; `nil` where the file has points that
        /// the history had to give up, because the clock was set back or the city has expired meanwhile.
        func missingPoints(of history: History, holdsOlder: Bool) -> Range<Int>? {
            guard let newest else { return 0..<history.count }
            let first = history.firstIndex(after: newest.time)
            if first == 0 { return holdsOlder ? 0..<history.count : nil }
            guard history[first - 1].time == newest.time else { return nil }
            // A later reading of the same millisecond replaces the point.
            return (history[first - 1].index == newest.index ? first : first - 1)..<history.count
        }
    }

    /// Opens, locks and checks a file, or creates one; journals are regular too. One that cannot be written is read.
    static func open(_ name: String) throws(StorageError) -> StorageDatabase {
        let path = resolvedPath(name)
        for end in ["-wal", "-journal"] where fileStatus(path + end)?.isRegular == false { throw .notAFile }
        let isReadOnly = try StorageSchema.checkHeader(of: name) && !isWritable(path)
        // Without a journal, SQLite would create one unless the file is declared immutable. With a journal, it would
        // lock the file for writing unless locks are switched off.
        let option = FileIdentity(path + "-wal") == nil ? "?immutable=1" : "?vfs=unix-none"
        let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))\(isReadOnly ? option : "")"
        let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let connection = try SQLiteConnection(name: address, flags: mode | SQLITE_OPEN_URI)
        try connection.harden()
        // The first read takes the lock, or fails because it is taken.
        let isNew = try !StorageSchema.check(connection)
        if !isReadOnly, try connection.text("PRAGMA journal_mode=WAL") != "wal" {
            throw .unavailable("SQLite cannot keep a write-ahead log there")
        }
        if isNew { try connection.execute(StorageSchema.creation) }
        return StorageDatabase(isNew: isNew, connection: connection, path: path)
    }

    /// Writes what is there already, to know a file that cannot be written before anything depends on it.
    mutating func requireWritable() throws(StorageError) {
        try connection.execute("PRAGMA user_version=\(StorageSchema.version)")
        stamps = currentStamps
    }

    /// Takes from the file what holds until a start only, counters and current readings, and points of no city. Part of
    /// the first write, so that a start that fails leaves them.
    private func begin() throws(StorageError) {
        try connection.execute(
            """
            UPDATE city SET better = NULL, worse = NULL, aqi = NULL, updated_ms = NULL, received_ms = NULL
                WHERE updated_ms NOTNULL;
            DELETE FROM reading WHERE city NOT IN (SELECT id FROM city)
            """)
    }

    /// Whether somebody else has written, truncated, removed or replaced the file or its journal.
    var isChanged: Bool { stamps != currentStamps }

    private var currentStamps: [FileStamp?] { [FileStamp(path), FileStamp(path + "-wal")] }

    /// Writes what the file does not have, all of it or nothing. After an error only closing is left.
    ///
    /// - Parameter isLast: whether the counters and the current readings are written too.
    /// - Returns: whether there was anything to write.
    mutating func write(_ snapshot: StoreSnapshot, isLast: Bool) throws(StorageError) -> Bool {
        guard isLast || snapshot.version > writtenVersion else { return false }
        try connection.execute("BEGIN IMMEDIATE")
        if writtenVersion == 0 { try begin() }
        let changeCount = "SELECT total_changes()"
        let before = try connection.text(changeCount)
        try writeCities(of: snapshot, isLast: isLast)
        let isWritten = try connection.text(changeCount) != before
        let now = monotonicTime()
        // Cities that have expired are not in the snapshot.
        let isEvicting = isLast || stored.count > snapshot.cityCount || now >= evictionAt
        if isEvicting { try evict(beside: snapshot) }
        try connection.execute("COMMIT")
        writtenVersion = snapshot.version
        if isEvicting {
            // Moves the journal into the file and syncs both: a loss of power takes no more than what comes after.
            try connection.execute("PRAGMA wal_checkpoint")
            evictionAt = now + .seconds(600)
        }
        stamps = currentStamps
        return isWritten
    }

    private mutating func writeCities(of snapshot: StoreSnapshot, isLast: Bool) throws(StorageError) {
        let row = try connection.prepare("INSERT OR REPLACE INTO city VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let reading = try connection.prepare("INSERT OR REPLACE INTO reading VALUES (?, ?, ?)")
        let scale = Array(snapshot.rules.scale.name.utf8)
        for number in snapshot.states.indices where isLast || snapshot.states[number].version > writtenVersion {
            let state = snapshot.states[number]
            let history = snapshot.histories[number]
            let changes = state.changes
            var city = stored[state.name] ?? StoredCity(id: nextID)
            let isFull = history.count == snapshot.rules.history.capacity
            let missing = city.missingPoints(of: history, holdsOlder: isFull || (isForeign && writtenVersion == 0))
            if missing == nil {
                // The points that are no longer right go with the old id.
                city = StoredCity(id: nextID)
                evictionAt = .zero
            }
            let isNew = city.id == nextID
            if isNew { nextID += 1 }
            if isLast || isNew || city.changes != changes {
                try row.run(
                    .integer(city.id), .text(state.name), .text(scale), .integer(Int64(changes.direction)),
                    changes.changedAt.map { .integer($0) }, isLast ? .integer(Int64(clamping: changes.better)) : nil,
                    isLast ? .integer(Int64(clamping: changes.worse)) : nil, isLast ? .real(state.index) : nil,
                    isLast ? .integer(state.updatedAt) : nil, isLast ? .integer(state.receivedAt) : nil)
            }
            for place in missing ?? 0..<history.count {
                let point = history[place]
                try reading.run(.integer(point.time), .integer(city.id), .real(point.index))
            }
            stored[state.name] = StoredCity(id: city.id, changes: changes, newest: history.last)
        }
    }

    /// Removes what memory does not have any more.
    private mutating func evict(beside snapshot: StoreSnapshot) throws(StorageError) {
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS known (id INTEGER PRIMARY KEY, oldest_ms INTEGER)")
        let insert = try connection.prepare("INSERT INTO known VALUES (?, ?)")
        stored = stored.filter { snapshot.find($0.key) != nil }
        for number in snapshot.states.indices {
            guard let city = stored[snapshot.states[number].name] else { continue }
            let history = snapshot.histories[number]
            // While the history has room, the file may have older points: those of a disk that came late.
            let isFull = history.count == snapshot.rules.history.capacity
            try insert.run(.integer(city.id), .integer(isFull ? history[0].time : .min))
        }
        try connection.execute(
            """
            DELETE FROM city WHERE id NOT IN (SELECT id FROM known);
            DELETE FROM reading WHERE NOT EXISTS (SELECT 1 FROM known WHERE id = city AND time_ms >= oldest_ms);
            DELETE FROM known;
            """)
    }

    /// Leaves one file and no journal. It stays in WAL mode, which a full disk could not bring back.
    consuming func close() { connection.setCheckpointOnClose(true) }

    /// Closes a file that somebody else has changed. SQLite would apply its journal to what has its name now.
    consuming func abandon() {
        if FileStamp(path + "-wal") == stamps[1] { removeFile(path + "-wal") }
    }
}
