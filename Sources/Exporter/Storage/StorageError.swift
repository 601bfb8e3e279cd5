internal import CSQLite
internal import Glibc
internal import System

/// Reason why a file cannot be used, in one line.
enum StorageError: Error, Equatable {
    /// The file is damaged or from an earlier release, and must be moved aside.
    case damaged(String)
    /// The disk or the permissions are at fault; the exporter serves from memory until that changes.
    case unavailable(String)
    /// The program must not use this file.
    case rejected(String)

    static let foreign = rejected("it is another program's database and was not changed")
    static let notADatabase = rejected("it is not an SQLite file and was not changed; use a new name")
    static let notAFile = rejected("expected the name of a regular file")
    static let readOnly = unavailable("the file is read-only")
    static let withoutFolder = unavailable("its folder is missing or cannot be written")

    /// Converts the last error of a connection, with SQLite's own message.
    init(_ connection: OpaquePointer?) {
        let code = unsafe sqlite3_errcode(connection) & 0xFF
        let message = unsafe String(cString: sqlite3_errmsg(connection))
        let errorNumber = unsafe sqlite3_system_errno(connection)
        let cause = errorNumber == 0 ? "" : ": \(describe(errorNumber: errorNumber))"
        self =
            switch code {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .rejected("another process has it open")
            case SQLITE_READONLY: .readOnly
            // After EACCES, SQLite retries read-only, which fails because the file does not exist.
            case SQLITE_CANTOPEN where errorNumber == ENOENT: .withoutFolder
            case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_NOLFS: .unavailable(message + cause)
            case SQLITE_NOMEM: .unavailable(message)
            // A damaged file can also make SQLite exceed its other limits; moving it aside loses nothing.
            default: .damaged("it is damaged: \(message)")
            }
    }

    var reason: String {
        switch self {
        case .damaged(let reason), .unavailable(let reason), .rejected(let reason): reason
        }
    }

    func error(of path: String) -> SystemError { SystemError(.file, "storage file \"\(path)\": \(reason)") }
}
