internal import CSQLite

/// The one owner of a `sqlite3_stmt *`. Parameters count from 1, columns from 0, as in SQLite.
@safe
struct SQLiteStatement: ~Copyable {
    private let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe sqlite3_finalize(pointer)
    }

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
        // The other codes mean a parameter that the statement does not have, or one bound in the middle of a step.
        precondition(result == SQLITE_OK || result == SQLITE_NOMEM, "the statement has this parameter")
    }

    /// - Returns: whether there is a row.
    func step() throws(SQLiteError) -> Bool {
        switch unsafe sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = unsafe SQLiteError(sqlite3_db_handle(pointer))
            unsafe sqlite3_reset(pointer)
            throw error
        }
    }

    /// Back to before the first row; what is bound stays.
    func reset() {
        // Repeats the error of the last step, which has been thrown already.
        unsafe sqlite3_reset(pointer)
    }

    /// Runs a statement whose rows, if any, do not matter.
    func run() throws(SQLiteError) {
        _ = try step()
        reset()
    }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }

    func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(pointer, column) }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// A copy.
    func bytes(_ column: Int32) -> [UInt8] {
        // In this order, as SQLite's documentation of `sqlite3_column_blob` asks.
        guard let start = unsafe sqlite3_column_text(pointer, column) else { return [] }
        let count = unsafe sqlite3_column_bytes(pointer, column)
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
