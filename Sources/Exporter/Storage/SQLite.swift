internal import CSQLite
internal import System

/// The one owner of a `sqlite3 *`. Used by one thread at a time.
@safe
struct SQLiteConnection: ~Copyable {
    private let pointer: OpaquePointer

    /// Corresponds to `sqlite3_open_v2`.
    init(name: String, flags: Int32) throws(StorageError) {
        var opened: OpaquePointer?
        // The connection is never used by two threads at once, so SQLite need not lock.
        let result = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            // A connection that failed to open has the error, and still has to be closed.
            let error = unsafe StorageError(opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe pointer = opened
    }

    deinit {
        // Statements may outlive this: `sqlite3_close_v2` waits for the last one.
        unsafe sqlite3_close_v2(pointer)
    }

    /// - Parameter option: one of `SQLITE_DBCONFIG_…` that is a switch.
    func set(_ option: Int32, _ isOn: Bool) {
        let result = unsafe CSQLite_db_config(pointer, option, isOn ? 1 : 0)
        precondition(result == SQLITE_OK, "SQLite knows these options")
    }

    func setBusyTimeout(milliseconds: Int32) { unsafe sqlite3_busy_timeout(pointer, milliseconds) }

    /// Corresponds to `sqlite3_exec`: any number of statements, whose rows are dropped.
    func execute(_ sql: String) throws(StorageError) {
        guard unsafe sqlite3_exec(pointer, sql, nil, nil, nil) == SQLITE_OK else { throw unsafe StorageError(pointer) }
    }

    /// Corresponds to `sqlite3_prepare_v3`.
    func prepare(_ sql: String) throws(StorageError) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(pointer, sql, -1, flags, &prepared, nil) == SQLITE_OK,
            let prepared = unsafe prepared
        else { throw unsafe StorageError(pointer) }
        return unsafe SQLiteStatement(owning: prepared)
    }

    /// The first column of the first row; 0 without a row.
    func integer(_ sql: String) throws(StorageError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The first column of the first row; nil without a row.
    func text(_ sql: String) throws(StorageError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? String(decoding: statement.bytes(0), as: UTF8.self) : nil
    }

    /// The file without symbolic links; its journal has this name with `-wal`. Corresponds to `sqlite3_db_filename`.
    var fileName: String { unsafe sqlite3_db_filename(pointer, "main").map { unsafe String(cString: $0) } ?? "" }

    /// Corresponds to `sqlite3_db_readonly`.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(pointer, "main") == 1 }

    /// Whether the open file has lost its name: removed, renamed or replaced. Corresponds to `SQLITE_FCNTL_HAS_MOVED`.
    var hasMoved: Bool {
        var moved: Int32 = 0
        let result = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return result != SQLITE_OK || moved != 0
    }

    /// Pages written to the journal since the last call. Corresponds to `SQLITE_DBSTATUS_CACHE_WRITE`.
    func takeWrittenPageCount() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        unsafe sqlite3_db_status(pointer, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
        return Int(current)
    }

    /// Moves the journal's pages into the file and syncs both. Corresponds to `sqlite3_wal_checkpoint_v2`.
    ///
    /// - Parameter mode: one of `SQLITE_CHECKPOINT_…`.
    func checkpoint(_ mode: Int32) throws(StorageError) {
        guard unsafe sqlite3_wal_checkpoint_v2(pointer, nil, mode, nil, nil) == SQLITE_OK else {
            throw unsafe StorageError(pointer)
        }
    }
}

/// The one owner of a `sqlite3_stmt *`. Parameters count from 1, columns from 0, as in SQLite.
@safe
struct SQLiteStatement: ~Copyable {
    private let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe sqlite3_finalize(pointer) }

    func bind(_ value: Int64, at parameter: Int32) {
        checkBinding(unsafe sqlite3_bind_int64(pointer, parameter, value))
    }

    func bind(_ value: Int64?, at parameter: Int32) {
        if let value { bind(value, at: parameter) } else { checkBinding(unsafe sqlite3_bind_null(pointer, parameter)) }
    }

    func bind(_ value: Double, at parameter: Int32) {
        checkBinding(unsafe sqlite3_bind_double(pointer, parameter, value))
    }

    /// SQLite copies the bytes.
    func bind(text: [UInt8], at parameter: Int32) {
        unsafe text.withUnsafeBufferPointer { bytes in
            checkBinding(unsafe CSQLite_bind_text(pointer, parameter, bytes.baseAddress, Int32(bytes.count)))
        }
    }

    private func checkBinding(_ result: Int32) {
        // The other codes mean a parameter that the statement does not have, or a bind during a step.
        precondition(result == SQLITE_OK || result == SQLITE_NOMEM, "the statement has this parameter")
    }

    /// - Returns: whether there is a row.
    func step() throws(StorageError) -> Bool {
        switch unsafe sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = unsafe StorageError(sqlite3_db_handle(pointer))
            unsafe sqlite3_reset(pointer)
            throw error
        }
    }

    /// Returns to before the first row; bound values stay.
    func reset() {
        // Returns the error of the last step, which was thrown already.
        unsafe sqlite3_reset(pointer)
    }

    /// Runs a statement whose rows, if any, do not matter.
    func run() throws(StorageError) {
        _ = try step()
        reset()
    }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }

    func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(pointer, column) }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// A copy of a text or a blob.
    func bytes(_ column: Int32) -> [UInt8] {
        // In this order, as SQLite's documentation of `sqlite3_column_blob` asks.
        guard let start = unsafe sqlite3_column_text(pointer, column) else { return [] }
        let count = unsafe sqlite3_column_bytes(pointer, column)
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}

extension StorageError {
    /// The error of a SQLite function, with SQLite's own message. Corresponds to `sqlite3_errcode`, `sqlite3_errmsg` and
    /// `sqlite3_system_errno`.
    fileprivate init(_ connection: OpaquePointer?) {
        let code = unsafe sqlite3_errcode(connection) & 0xFF
        var message = unsafe String(cString: sqlite3_errmsg(connection))
        let errorNumber = unsafe sqlite3_system_errno(connection)
        if [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code), errorNumber != 0 {
            message += ": \(describe(errorNumber: errorNumber))"
        }
        self =
            switch code {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .inUse
            case SQLITE_FULL: .full(message)
            case SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOLFS,
                SQLITE_INTERRUPT:
                .unavailable(message)
            // SQLite runs out of memory over sizes in a damaged file as well; nothing is lost by moving it aside.
            default: .damaged(message)
            }
    }
}
