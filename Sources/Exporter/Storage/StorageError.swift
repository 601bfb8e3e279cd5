internal import System

/// Reason why a file cannot be used. The program serves from memory with one that is damaged, full or unavailable, and
/// does not start with any other.
enum StorageError: Error, Equatable, CustomStringConvertible {
    case damaged(String)
    /// The disk or the permissions, not the content of the file.
    case unavailable(String)
    case full(String)
    case inUse
    case foreign
    case notADatabase
    case newer(version: Int64)
    case unreleased(version: Int64)
    case notAFile

    /// Of the file with that name.
    func error(of path: String) -> SystemError { SystemError(.file, "storage file \"\(path)\": \(self)") }

    var description: String {
        switch self {
        case .damaged(let reason): "it is damaged: \(reason)"
        case .unavailable(let reason), .full(let reason): reason
        case .inUse: "another process has it open"
        case .foreign: "it is a database of another program and is left as it is"
        case .notADatabase: "it is no SQLite file and is left as it is; expected one of this program, or a new name"
        case .newer(let version):
            "its schema is version \(version), this program knows up to \(StorageSchema.current.version); "
                + "it is left as it is"
        case .unreleased(let version):
            "its schema is version \(version), which no release of this program had; it is left as it is, "
                + "move it away for a new one"
        case .notAFile: "expected the name of a regular file"
        }
    }
}
