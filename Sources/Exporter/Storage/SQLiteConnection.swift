internal import CSQLite

/// The unique owner of a `sqlite3 *`. Used by one thread at a time.
@safe
struct SQLiteConnection: ~Copyable {
    private let pointer: OpaquePointer?

    init(name: String, flags: Int32) throws(StorageError) {
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        // A connection that failed to open carries the error; `deinit` closes it too.
        unsafe pointer = opened
        guard result == SQLITE_OK else { throw unsafe StorageError(opened) }
    }

    deinit {
        // Statements may outlive the connection: `sqlite3_close_v2` defers closing until the last one is finalized.
        unsafe sqlite3_close_v2(pointer)
    }

    /// Bounds SQLite's resources for any file. The next read locks the file for good. Closing does not checkpoint until
    /// ``setCheckpointOnClose(_:)`` allows it.
    func harden(heapLimit: Int) throws(StorageError) {
        // The longest legitimate value is the SQL of a table definition.
        unsafe sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, 4096)
        setCheckpointOnClose(false)
        // The time-out of 250 ms outlasts a brief look by another tool.
        try execute(
            """
            PRAGMA hard_heap_limit=\(heapLimit); PRAGMA busy_timeout=250; PRAGMA locking_mode=EXCLUSIVE;
            PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY
            """)
    }

    func setCheckpointOnClose(_ isOn: Bool) {
        _ = unsafe CSQLite_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn ? 0 : 1)
    }

    /// Runs any number of statements and ignores their rows.
    func execute(_ sql: String) throws(StorageError) {
        guard unsafe sqlite3_exec(pointer, sql, nil, nil, nil) == SQLITE_OK else { throw unsafe StorageError(pointer) }
    }

    func prepare(_ sql: String) throws(StorageError) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let result = unsafe sqlite3_prepare_v2(pointer, sql, -1, &prepared, nil)
        guard result == SQLITE_OK else { throw unsafe StorageError(pointer) }
        return unsafe SQLiteStatement(owning: prepared)
    }

    /// Returns the first column of the first row; empty if there is no row.
    func text(_ sql: String) throws(StorageError) -> String {
        let statement = try prepare(sql)
        return try statement.step() ? String(decoding: statement.bytes(0), as: UTF8.self) : ""
    }
}
