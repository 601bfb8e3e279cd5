internal import Bytes
internal import Glibc
internal import System

/// The beginning of a file, looked at before SQLite touches it.
enum StorageHead: Equatable {
    /// There is no file, or it is empty. SQLite itself writes a single byte at times, to make sure of a file.
    case new
    /// A file that SQLite opens: it begins with SQLite's sixteen bytes, or with zeros.
    case database(Header?)
    /// A directory, a device or the like, or a loop of symbolic links.
    case notAFile
    /// A file of another kind.
    case foreign
    /// It cannot be looked at.
    case unreadable

    /// https://sqlite.org/fileformat2.html#the_database_header
    struct Header: Equatable {
        var applicationID: Int64
        var version: Int64
        var hasTables: Bool
    }

    private static let magic = Array("SQLite format 3".utf8) + [0]

    init(_ path: String) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            self = .notAFile
            return
        }
        guard let status = fileStatus(path) else {
            self = errno == ENOENT ? .new : errno == ELOOP ? .notAFile : .unreadable
            return
        }
        guard status.isRegular else {
            self = .notAFile
            return
        }
        guard let bytes = firstBytes(of: path, count: 108) else {
            self = .unreadable
            return
        }
        let start = bytes.prefix(Self.magic.count)
        if bytes.count <= 1, bytes.allSatisfy({ $0 == 0 }) {
            self = .new
        } else if start.allSatisfy({ $0 == 0 }) {
            self = .database(nil)
        } else if start.elementsEqual(Self.magic.prefix(start.count)) {
            self = .database(bytes.count < 108 ? nil : Header(bytes))
        } else {
            self = .foreign
        }
    }

    /// Whether a file is a journal that lost its head: SQLite would ignore what is in it without a word. One that begins
    /// with zeros has lost everything with the machine's power, and SQLite is right to ignore it.
    ///
    /// https://sqlite.org/fileformat2.html#the_write_ahead_log
    static func isDamagedJournal(_ path: String) -> Bool {
        guard let bytes = firstBytes(of: path, count: 32), bytes.count == 32, bytes.contains(where: { $0 != 0 })
        else { return false }
        // The magic number's last bit says in which order the checksum takes the bytes.
        let isBigEndian = bytes[3] & 1 == 1
        func word(_ place: Int, bigEndian: Bool = true) -> UInt32 {
            let word = bytes[place..<place + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            return bigEndian ? word : word.byteSwapped
        }
        var (one, two): (UInt32, UInt32) = (0, 0)
        for place in stride(from: 0, to: 24, by: 8) {
            one &+= word(place, bigEndian: isBigEndian) &+ two
            two &+= word(place + 4, bigEndian: isBigEndian) &+ one
        }
        return word(0) & ~1 != 0x377F_0682 || one != word(24) || two != word(28)
    }
}

extension StorageHead.Header {
    fileprivate init(_ bytes: [UInt8]) {
        func number(_ place: Int, _ count: Int) -> Int64 {
            bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
        }
        applicationID = number(68, 4)
        version = number(60, 4)
        // Cells of the first page, which is that of the schema.
        hasTables = number(103, 2) > 0
    }
}

extension StorageFile {
    /// Looks at the file and its folder as a start would, and changes neither.
    ///
    /// - Throws: what a start would refuse, or would have to do without.
    public static func check(_ path: String) throws(StorageError) {
        func failure(_ refusal: StorageRefusal) -> StorageError { StorageError(path: path, refusal: refusal) }
        switch StorageHead(path) {
        case .notAFile: throw failure(.notAFile)
        case .foreign: throw failure(.notADatabase)
        case .unreadable: throw failure(.unavailable("it cannot be read"))
        case .database(let header?) where header.applicationID == StorageSchema.applicationID:
            if let refusal = StorageDatabase.refusal(ofVersion: header.version) { throw failure(refusal) }
        case .database(let header?):
            if header.applicationID != 0 || header.hasTables { throw failure(.foreign) }
        case .database(nil), .new: break
        }
        let file = resolvedPath(path)
        let folder = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[...$0]) } ?? "."
        guard isWritable(folder) else { throw failure(.unavailable("its folder is missing or cannot be written")) }
        guard FileIdentity(file) == nil || isWritable(file) else {
            throw failure(.unavailable("the file is read-only"))
        }
    }
}

/// Nil when the file is missing, cannot be read or is not a regular one.
private func firstBytes(of path: String, count: Int) -> [UInt8]? {
    let number = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else { return nil }
    let file = FileDescriptor(owning: number)
    guard fileStatus(file)?.isRegular == true else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = unsafe max(0, pread(file.number, buffer.baseAddress, count, 0))
    }
}
