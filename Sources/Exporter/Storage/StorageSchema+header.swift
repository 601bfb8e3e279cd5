internal import Glibc
internal import System

extension StorageSchema {
    /// Checks the header of a file without SQLite: https://sqlite.org/fileformat2.html#the_database_header
    ///
    /// - Returns: whether the file has content. A single zero byte, which SQLite sometimes writes, does not count.
    /// - Throws: if SQLite must not open it: not a regular file, of another kind, program or later version, or with so
    ///   many tables that SQLite would take long to read them.
    static func checkHeader(of path: String) throws(StorageError) -> Bool {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFile }
        switch Result(catching: { () throws(ErrorNumber) in try fileStatus(path) }) {
        case .failure(let error) where error.code == ENOENT: return false
        case .failure(let error) where error.code == ELOOP: throw .notAFile
        case .success(let status) where !status.isRegular: throw .notAFile
        // Other errors occur again in `open`, which reports them.
        case .success, .failure: break
        }
        let number = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw .unavailable("it cannot be read: \(describe(errorNumber: errno))") }
        let file = FileDescriptor(owning: number)
        var page = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(file.number, &page, page.count, 0)
        if count <= 1, page[0] == 0 { return false }
        // The disk has lost the beginning; SQLite will report the damage.
        if page.starts(with: repeatElement(0, count: 16)) { return true }
        guard page.starts(with: "SQLite format 3\0".utf8) else { throw .notADatabase }
        func integer(_ range: Range<Int>) -> Int { page[range].reduce(0) { $0 << 8 | Int($1) } }
        let cityTable = tables.utf8.prefix { $0 != UInt8(ascii: ";") }
        let isOurs = integer(68..<72) == applicationID || page.firstRange(of: cityTable) != nil
        // The number of cells on the first page is the number of tables.
        guard isOurs || (integer(68..<72) == 0 && integer(103..<105) == 0) else { throw .foreign }
        guard isOurs else { return true }
        try rejectLater(integer(60..<64))
        // Our schema fits on the first page; type 5, an interior page, means that there are more tables.
        if page[100] == 5 { throw .damaged("it is damaged: it has more tables than ours") }
        if page[18] > 2 { throw .damaged("it is damaged: its header says that it is read-only") }
        return true
    }
}
