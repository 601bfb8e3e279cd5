internal import CSQLite
internal import Glibc

/// What a SQLite function answered, in SQLite's words.
struct SQLiteError: Error {
    /// The extended result code.
    let code: Int32
    let message: String

    var primaryCode: Int32 { code & 0xFF }

    var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].contains(primaryCode) }

    /// The disk or the rights to it failed, not the file's content.
    var isOutside: Bool {
        [
            SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOMEM,
            SQLITE_NOLFS, SQLITE_INTERRUPT,
        ].contains(primaryCode)
    }

    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Corresponds to `sqlite3_extended_errcode`, `sqlite3_errmsg` and `sqlite3_system_errno`.
    init(_ connection: OpaquePointer?) {
        unsafe code = sqlite3_extended_errcode(connection)
        var message = unsafe String(cString: sqlite3_errmsg(connection))
        let errorNumber = unsafe sqlite3_system_errno(connection)
        if [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF), errorNumber != 0 {
            message += ": \(describe(errorNumber: errorNumber))"
        }
        self.message = message
    }
}

/// The C library's words for an `errno`.
func describe(errorNumber: Int32) -> String {
    // Safe from any thread since glibc 2.32.
    unsafe String(cString: strerror(errorNumber))
}
