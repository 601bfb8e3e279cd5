internal import Bytes
internal import CSQLite

/// The unique owner of a `sqlite3_stmt *`.
@safe
struct SQLiteStatement: ~Copyable {
    enum Value {
        case integer(Int64)
        case real(Double)
        case text([UInt8])
    }

    private let pointer: OpaquePointer?

    init(owning pointer: OpaquePointer?) { unsafe self.pointer = pointer }

    deinit { unsafe sqlite3_finalize(pointer) }

    /// Runs a statement that returns no rows, with its parameters in order; `nil` binds NULL.
    func run(_ values: Value?...) throws(StorageError) {
        // Only binding a text can fail, for lack of memory; its NOT NULL column then rejects the NULL.
        for (parameter, value) in zip(Int32(1)..., values) {
            switch value {
            case nil: unsafe sqlite3_bind_null(pointer, parameter)
            case .integer(let number): unsafe sqlite3_bind_int64(pointer, parameter, number)
            case .real(let number): unsafe sqlite3_bind_double(pointer, parameter, number)
            case .text(let text): unsafe CSQLite_bind_text(pointer, parameter, text, Int32(text.count))
            }
        }
        _ = try step()
        // Returns the error of the last step, which `step` has thrown already.
        unsafe sqlite3_reset(pointer)
    }

    /// Advances to the next row. Returns whether there is one.
    func step() throws(StorageError) -> Bool {
        let result = unsafe sqlite3_step(pointer)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw unsafe StorageError(sqlite3_db_handle(pointer))
    }

    /// The integer in a column, counted from 0; `nil` for NULL.
    func integer(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL ? nil : sqlite3_column_int64(pointer, column)
    }

    /// `nil` for NULL.
    func double(_ column: Int32) -> Double? {
        unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL ? nil : sqlite3_column_double(pointer, column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        // The text before its size, as SQLite's documentation of `sqlite3_column_blob` requires.
        guard let start = unsafe sqlite3_column_text(pointer, column) else { return [] }
        let count = unsafe sqlite3_column_bytes(pointer, column)
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// The text in a column; empty if it is not UTF-8.
    func utf8(_ column: Int32) -> [UInt8] {
        let text = bytes(column)
        return isUTF8(text.span) ? text : []
    }
}
