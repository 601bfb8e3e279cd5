internal import Bytes
internal import Glibc
public import System

/// The header of a file, looked at before SQLite touches the file; zeros where SQLite has to find out what is wrong with it.
///
/// https://sqlite.org/fileformat2.html#the_database_header
struct StorageHead {
    var applicationID: Int64
    var version: Int64
    var hasTables: Bool

    /// - Returns: nil when there is no file, or an empty one. SQLite itself writes a single byte at times, to make sure
    ///   of a file.
    /// - Throws: for what SQLite must not open: anything but a regular file, and a file of another kind.
    init?(_ path: String) throws(StorageError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFile }
        guard let status = fileStatus(path) else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .notAFile
            default: throw .unavailable("it cannot be read: \(describe(errorNumber: errno))")
            }
        }
        guard status.isRegular else { throw .notAFile }
        guard let bytes = firstBytes(of: path, count: 108) else { throw .unavailable("it cannot be read") }
        let magic = Array("SQLite format 3".utf8) + [0]
        let start = bytes.prefix(magic.count)
        let isEmpty = start.allSatisfy { $0 == 0 }
        if isEmpty, bytes.count <= 1 { return nil }
        guard isEmpty || start.elementsEqual(magic.prefix(start.count)) else { throw .notADatabase }
        func number(_ place: Int, _ count: Int) -> Int64 {
            isEmpty || bytes.count < 108 ? 0 : bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
        }
        applicationID = number(68, 4)
        version = number(60, 4)
        // Cells of the first page, which is that of the schema.
        hasTables = number(103, 2) > 0
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

extension StorageFile {
    /// Looks at the file and its folder as a start would, and changes neither.
    ///
    /// - Throws: what a start would refuse, or would have to do without.
    public static func check(_ path: String) throws(SystemError) {
        do throws(StorageError) {
            if let head = try StorageHead(path) {
                if head.applicationID == StorageSchema.applicationID {
                    try StorageDatabase.check(version: head.version)
                } else if head.applicationID != 0 || head.hasTables {
                    throw .foreign
                }
            }
            let file = resolvedPath(path)
            let folder = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[...$0]) } ?? "."
            guard isWritable(folder) else { throw .unavailable("its folder is missing or cannot be written") }
            guard FileIdentity(file) == nil || isWritable(file) else { throw .unavailable("the file is read-only") }
        } catch {
            throw error.error(of: path)
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
