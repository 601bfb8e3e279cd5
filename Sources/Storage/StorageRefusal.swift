internal import CSQLite

/// Why a file cannot be used.
enum StorageRefusal: Error, Equatable, CustomStringConvertible {
    case damaged(String)
    /// The disk or the rights to it, not the file.
    case unavailable(String)
    case inUse
    case foreign
    case newer(version: Int64)
    case notAFile

    /// What came of opening or reading.
    init(_ error: SQLiteError) {
        self =
            if error.isBusy {
                .inUse
            } else if error.isOutside, error.primaryCode != SQLITE_NOMEM {
                .unavailable(error.message)
            } else {
                // SQLite runs out of memory over sizes in a damaged file as well; nothing is lost by setting it aside.
                .damaged(error.message)
            }
    }

    var description: String {
        switch self {
        case .damaged(let reason): "it is damaged: \(reason)"
        case .unavailable(let reason): reason
        case .inUse: "another process has it open"
        case .foreign: "it is a database of another program and is left as it is"
        case .newer(let version):
            "its schema is version \(version), this program knows up to \(StorageSchema.current.version); "
                + "it is left as it is"
        case .notAFile: "expected the name of a regular file"
        }
    }
}
