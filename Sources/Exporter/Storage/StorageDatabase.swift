internal import AirQuality
internal import Bytes
internal import CSQLite
internal import System

/// The open file, locked against other processes. Used by one thread at a time.
///
/// SQLite's exclusive locking mode holds the lock for the life of the connection; the kernel releases it however the
/// process ends. The mode also keeps the WAL index in memory instead of a mapped file: a full disk or truncated file
/// causes an error code, never a signal. A committed transaction is in the kernel's cache and outlives the process.
struct StorageDatabase: ~Copyable {
    /// Whether the file did not exist or was empty.
    let isNew: Bool
    let connection: SQLiteConnection
    /// The path with symbolic links resolved: SQLite needs about 4 KiB of stack for each link that it follows.
    private let path: String
    var isForeign = false
    /// State of the file and its journal after the last write.
    private var stamps: [FileStamp?] = []
    var stored: [[UInt8]: StoredCity] = [:]
    /// Greater than every city id in the file.
    var nextID: Int64 = 1
    /// Version of the store up to which the file is complete.
    private var writtenVersion: UInt64 = 0
    /// When points that left the memory are next searched for.
    private var evictionAt: Duration = .zero
    private var eviction: Eviction?

    /// The deletion of points that are no longer in memory, in progress.
    private struct Eviction {
        /// The last row examined, in the order of the table.
        var last: (time: Int64, city: Int64) = (-1, -1)
        /// Cities from this id on are newer than the list of cities that it goes by.
        var newID: Int64
        /// Whether the rows before `last` must be examined again.
        var isRepeated = false
    }

    struct StoredCity {
        /// Row id, never reused for another city.
        let id: Int64
        var changes = CategoryChanges()
        var feedLabel: [UInt8] = []
        var place: CityPlace?
        var newest: HistoryPoint?

        /// Whether the row lacks something that is written whenever it changes.
        func isOutdated(by state: CityState) -> Bool {
            changes != state.changes || feedLabel != state.feedLabel || place != state.extras?.place
        }

        /// Returns the points that the file lacks; `nil` if the file has points that the history has lost because the
        /// clock was set back or the city expired.
        func missingPoints(of history: History, holdsOlder: Bool) -> ArraySlice<HistoryPoint>? {
            guard let newest else { return history.points[...] }
            let first = history.firstIndex(after: newest.time)
            if first == 0 { return holdsOlder ? history.points[...] : nil }
            guard history.points[first - 1].time == newest.time else { return nil }
            // A later reading with the same millisecond replaces the point.
            return history.points[(history.points[first - 1] == newest ? first : first - 1)...]
        }
    }

    /// Opens, locks and checks a file, read-only if it cannot be written, or creates it. Journals must be regular too.
    static func open(_ name: String, cityLimit: Int) throws(StorageError) -> StorageDatabase {
        let path = resolvedPath(name)
        for end in ["-wal", "-journal"] where (try? fileStatus(path + end))?.isRegular == false { throw .notAFile }
        let isReadOnly = try StorageSchema.checkHeader(of: name) && !isWritable(path)
        // Without a journal, SQLite would create one unless the file is declared immutable. With one, it would lock the
        // file for writing unless locks are disabled.
        let option = FileIdentity(path + "-wal") == nil ? "?immutable=1" : "?vfs=unix-none"
        let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))\(isReadOnly ? option : "")"
        let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let connection = try SQLiteConnection(name: address, flags: mode | SQLITE_OPEN_URI)
        try connection.harden(heapLimit: max(64 << 20, 32 * cityLimit))
        // The first read takes the lock, or fails if another process holds it.
        let isNew = try !StorageSchema.check(connection)
        if !isReadOnly, try connection.text("PRAGMA journal_mode=WAL") != "wal" {
            throw .unavailable("SQLite cannot keep a write-ahead log there")
        }
        if isNew { try connection.execute(StorageSchema.creation) }
        return StorageDatabase(isNew: isNew, connection: connection, path: path)
    }

    /// Rewrites a value that is already there, to detect a file that cannot be written before anything depends on it.
    mutating func requireWritable() throws(StorageError) {
        try connection.execute("PRAGMA user_version=\(StorageSchema.version)")
        stamps = currentStamps
    }

    /// Clears counters and times of arrival, valid only until the next start. Part of the first write, so that a failed
    /// start leaves them in place. `OR FAIL` needs no copies of pages in memory.
    private func begin() throws(StorageError) {
        try connection.execute(
            "UPDATE OR FAIL city SET better = NULL, worse = NULL, received_ms = NULL WHERE better NOTNULL")
    }

    /// Whether another process has written, truncated, removed or replaced the file or its journal.
    var isChanged: Bool { stamps != currentStamps }

    private var currentStamps: [FileStamp?] { [FileStamp(path), FileStamp(path + "-wal")] }

    /// Writes everything that the file lacks in one transaction, with `isLast` also counters and current readings.
    /// Returns whether there was anything to write. After an error, the database can only be closed. Points that left
    /// the memory stay until ``evictPart()``.
    mutating func write(_ snapshot: StoreSnapshot, isLast: Bool) throws(StorageError) -> Bool {
        guard isLast || snapshot.version > writtenVersion else { return false }
        try connection.execute("BEGIN IMMEDIATE")
        if writtenVersion == 0 { try begin() }
        let changeCount = "SELECT total_changes()"
        let before = try connection.text(changeCount)
        try writeCities(of: snapshot, isLast: isLast)
        let isWritten = try connection.text(changeCount) != before
        // Expired cities are not in the snapshot.
        if isLast || stored.count > snapshot.cityCount || monotonicTime() >= evictionAt {
            try beginEviction(beside: snapshot)
        }
        try connection.execute("COMMIT")
        writtenVersion = snapshot.version
        stamps = currentStamps
        return isWritten
    }

    private mutating func writeCities(of snapshot: StoreSnapshot, isLast: Bool) throws(StorageError) {
        // Keeps the reading of the last clean stop until points are newer.
        let row = try connection.prepare(
            """
            INSERT INTO city VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
                scale = excluded.scale, direction = excluded.direction, changed_ms = excluded.changed_ms,
                better = excluded.better, worse = excluded.worse, aqi = ifnull(excluded.aqi, aqi),
                updated_ms = ifnull(excluded.updated_ms, updated_ms), received_ms = excluded.received_ms,
                feed = excluded.feed, country = excluded.country, latitude = excluded.latitude,
                longitude = excluded.longitude
            """)
        let reading = try connection.prepare("INSERT OR REPLACE INTO reading VALUES (?, ?, ?)")
        let scale = Array(snapshot.rules.scale.name.utf8)
        for index in snapshot.states.indices where isLast || snapshot.states[index].version > writtenVersion {
            let state = snapshot.states[index]
            let history = snapshot.histories[index]
            let changes = state.changes
            let place = state.extras?.place
            var city = stored[state.name] ?? StoredCity(id: nextID)
            let isFull = history.points.count == snapshot.rules.history.capacity
            let missing = city.missingPoints(of: history, holdsOlder: isFull || (isForeign && writtenVersion == 0))
            if missing == nil {
                // The eviction that begins with this write deletes the old id, and later its outdated points.
                city = StoredCity(id: nextID)
                evictionAt = .zero
            }
            let isNew = city.id == nextID
            if isNew { nextID += 1 }
            if isLast || isNew || city.isOutdated(by: state) {
                try row.run(
                    .integer(city.id), .text(state.name), .text(scale), .integer(Int64(changes.direction)),
                    changes.changedAt.map { .integer($0) }, isLast ? .integer(Int64(clamping: changes.better)) : nil,
                    isLast ? .integer(Int64(clamping: changes.worse)) : nil, isLast ? .real(state.aqi) : nil,
                    isLast ? .integer(state.updatedAt) : nil, isLast ? .integer(state.receivedAt) : nil,
                    .text(state.feedLabel), place.map { .text($0.country) }, place?.latitude.map { .real($0) },
                    place?.longitude.map { .real($0) })
            }
            for point in missing ?? history.points[...] {
                try reading.run(.integer(point.time), .integer(city.id), .real(point.aqi))
            }
            stored[state.name] = StoredCity(
                id: city.id, changes: changes, feedLabel: state.feedLabel, place: place, newest: history.points.last)
        }
    }

    /// Deletes the cities that are no longer in memory, and lists those that are for ``evictPart()``.
    private mutating func beginEviction(beside snapshot: StoreSnapshot) throws(StorageError) {
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS known (id INTEGER PRIMARY KEY, oldest_ms INTEGER); DELETE FROM known")
        let insert = try connection.prepare("INSERT INTO known VALUES (?, ?)")
        stored = stored.filter { snapshot.find($0.key) != nil }
        for index in snapshot.states.indices {
            guard let city = stored[snapshot.states[index].name] else { continue }
            let history = snapshot.histories[index]
            // While the history has room, the file may have older points, if it became readable only after the start.
            let isFull = history.points.count == snapshot.rules.history.capacity
            try insert.run(.integer(city.id), .integer(isFull ? history.points[0].time : .min))
        }
        try connection.execute("DELETE FROM city WHERE id NOT IN (SELECT id FROM known)")
        eviction = Eviction(last: eviction?.last ?? (-1, -1), newID: nextID, isRepeated: eviction != nil)
        evictionAt = monotonicTime() + .seconds(600)
    }

    /// Examines the next 20,000 points and deletes those that are no longer in memory, in a transaction of its own, so
    /// that new points never wait for millions of old ones. Returns whether there is more to examine.
    mutating func evictPart() throws(StorageError) -> Bool {
        guard var eviction else { return false }
        let start = "(time_ms, city) > (\(eviction.last.time), \(eviction.last.city))"
        let end = try lastRow(ofPartFrom: start)
        try connection.execute(
            """
            DELETE FROM reading WHERE \(start) \(end.map { "AND (time_ms, city) <= (\($0.time), \($0.city))" } ?? "")
                AND city < \(eviction.newID)
                AND NOT EXISTS (SELECT 1 FROM known WHERE id = city AND time_ms >= oldest_ms)
            """)
        if let end {
            eviction.last = end
            self.eviction = eviction
        } else {
            self.eviction = eviction.isRepeated ? Eviction(newID: eviction.newID) : nil
            // Moves the journal into the file and syncs both: a power loss costs only what is written later.
            try connection.execute("PRAGMA wal_checkpoint")
        }
        stamps = currentStamps
        return self.eviction != nil
    }

    /// Returns the key of the 20,000th row from a start; `nil` if there are fewer.
    private func lastRow(ofPartFrom start: String) throws(StorageError) -> (time: Int64, city: Int64)? {
        let row = try connection.prepare(
            "SELECT time_ms, city FROM reading WHERE \(start) ORDER BY time_ms, city LIMIT 1 OFFSET 19999")
        return try row.step() ? (row.integer(0) ?? 0, row.integer(1) ?? 0) : nil
    }

    /// Leaves a single file without a journal, in WAL mode: a full disk could prevent switching back to it.
    consuming func close() { connection.setCheckpointOnClose(true) }

    /// Closes a file that another process has changed. SQLite would apply its journal to whatever has the name now.
    consuming func abandon() {
        if FileStamp(path + "-wal") == stamps[1] { removeFile(path + "-wal") }
    }
}
