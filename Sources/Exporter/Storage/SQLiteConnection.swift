internal import CSQLite

/// The one owner of a `sqlite3 *`. Used by one thread at a time.
@safe
struct SQLiteConnection: ~Copyable {
    private let pointer: OpaquePointer?

    init(name: String, flags: Int32) throws(StorageError) {
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        // A connection that failed to open has the error, and is closed by `deinit` as well.
        unsafe pointer = opened
        guard result == SQLITE_OK else { throw unsafe StorageError(opened) }
    }

    deinit {
        // Statements may outlive this: `sqlite3_close_v2` waits for the last one.
        unsafe sqlite3_close_v2(pointer)
    }

    /// Bounds what the file can make SQLite take and do, whatever is in it. The next read takes the lock for good, and
    /// closing changes nothing.
    func harden() throws(StorageError) {
        // The longest value that is ours is the definition of a table.
        unsafe sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, 4096)
        setCheckpointOnClose(false)
        // 64 MiB; a quarter of a second is long enough for a short look with another tool.
        try execute(
            """
            PRAGMA hard_heap_limit=67108864; PRAGMA busy_timeout=250; PRAGMA locking_mode=EXCLUSIVE;
            PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY
            """)
    }

    func setCheckpointOnClose(_ isOn: Bool) {
        _ = unsafe CSQLite_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn ? 0 : 1)
    }

    /// Runs any number of statements, whose rows are ignored.
    func execute(_ sql: String) throws(StorageError) {
        guard unsafe sqlite3_exec(pointer, sql, nil, nil, nil) == SQLITE_OK else { throw unsafe StorageError(pointer) }
    }

    func prepare(_ sql: String) throws(StorageError) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let result = unsafe sqlite3_prepare_v2(pointer, sql, -1, &prepared, nil)
        guard result == SQLITE_OK else { throw unsafe StorageError(pointer) }
        return unsafe SQLiteStatement(owning: prepared)
    }

    /// The first column of the first row; empty without a row.
    func text(_ sql: String) throws(StorageError) -> String {
        let statement = try prepare(sql)
        return try statement.step() ? String(decoding: statement.bytes(0), as: UTF8.self) : ""
    }
}
