internal import Glibc
internal import System

/// The header of a file, looked at without SQLite.
///
/// https://sqlite.org/fileformat2.html#the_database_header
struct StorageHead {
    /// Whether the file looks like another program's.
    let isForeign: Bool

    /// - Returns: `nil` when there is no file, or an empty one. SQLite itself writes a single byte at times, to make
    ///   sure of a file.
    /// - Throws: for what SQLite must not open: anything but a regular file, a file of another kind, and one of ours
    ///   that is of a later version or has so many tables that SQLite would take long to read them.
    init?(_ path: String) throws(StorageError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFile }
        guard let status = fileStatus(path) else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? .notAFile : .unavailable("it cannot be read: \(describe(errorNumber: errno))")
        }
        guard status.isRegular else { throw .notAFile }
        let number = unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw .unavailable("it cannot be read: \(describe(errorNumber: errno))") }
        let file = FileDescriptor(owning: number)
        var bytes = [UInt8](repeating: 0, count: 105)
        let count = unsafe pread(file.number, &bytes, bytes.count, 0)
        if count <= 1, bytes[0] == 0 { return nil }
        let magic = Array("SQLite format 3".utf8) + [0]
        let isZero = bytes.prefix(magic.count).allSatisfy { $0 == 0 }
        guard isZero || bytes.starts(with: magic) else { throw .notADatabase }
        func integer(_ range: Range<Int>) -> Int { isZero ? 0 : bytes[range].reduce(0) { $0 << 8 | Int($1) } }
        let applicationID = integer(68..<72)
        // The number of cells on the first page is that of tables.
        let hasTables = integer(103..<105) > 0
        let isOurs = applicationID == StorageSchema.applicationID
        isForeign = !isOurs && (applicationID != 0 || hasTables)
        guard isOurs else { return }
        try StorageSchema.rejectLater(integer(60..<64))
        // Our tables are on a page of their own; type 5 says that there are more pages.
        if bytes[100] == 5 { throw .damaged("it is damaged: it has more tables than ours") }
        if bytes[18] > 2 { throw .damaged("it is damaged: its header says that it is read-only") }
    }
}
