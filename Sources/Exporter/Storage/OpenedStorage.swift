internal import AirQuality
internal import Bytes
internal import System

/// A file that is open for writing, and what was in it.
struct OpenedStorage: ~Copyable {
    var database: StorageDatabase
    var content: StorageContent
    /// Where the damaged file is that had its name, and what was wrong with it.
    var quarantined: (path: String, reason: String)?

    init(database: consuming StorageDatabase, content: StorageContent) {
        self.database = database
        self.content = content
    }

    /// Opens the file, or moves a damaged one aside and creates a new one.
    ///
    /// - Parameter now: milliseconds since the Unix epoch.
    static func open(
        _ path: String, rules: StoreRules, now: Int64, mayQuarantine: Bool = true
    ) throws(StorageRefusal) -> OpenedStorage {
        let identity = FileIdentity(path)
        do throws(StorageRefusal) {
            return try openAsItIs(path, rules)
        } catch {
            guard case .damaged(let reason) = error, mayQuarantine else { throw error }
            // Two processes may have found the same damage; the file that the other one has created is not damaged.
            guard identity != nil, FileIdentity(path) == identity else { throw error }
            let target: String
            do throws(SystemError) {
                target = try quarantine(path, now: now)
            } catch {
                throw .unavailable("it is damaged (\(reason)) and cannot be renamed: \(error.reason)")
            }
            var opened = try openAsItIs(path, rules)
            opened.quarantined = (target, reason)
            return opened
        }
    }

    private static func openAsItIs(_ path: String, _ rules: StoreRules) throws(StorageRefusal) -> OpenedStorage {
        // Without symbolic links, which SQLite follows with some 4 KiB of stack for each.
        let name = resolvedPath(path)
        switch StorageHead(path) {
        case .notAFile: throw .notAFile
        case .foreign: throw .notADatabase
        case .database where StorageHead.isDamagedJournal(name + "-wal"):
            throw .damaged("the head of its journal is not what was written")
        case .database, .new, .unreadable: return try StorageDatabase.open(literalName(name), rules: rules)
        }
    }
}

/// SQLite gives `:memory:`, `file:…` and the empty name special meanings; this is the file of that name.
func literalName(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
}

/// Renames a damaged file and its journals, so that they can be examined and nothing is overwritten.
///
/// - Parameter now: milliseconds since the Unix epoch.
/// - Returns: the file's new name.
private func quarantine(_ path: String, now: Int64) throws(SystemError) -> String {
    let path = resolvedPath(path)
    let stem = "\(path).damaged-\(compactTime(now))"
    var target = stem
    var count = 1
    while FileIdentity(target) != nil {
        count += 1
        target = "\(stem)-\(count)"
    }
    for suffix in ["-wal", "-shm", "-journal"] where FileIdentity(path + suffix) != nil {
        try renameFile(path + suffix, to: target + suffix)
    }
    // Last: if the process is killed in between, the next start finds the file and goes on.
    try renameFile(path, to: target)
    return target
}

/// As in 20261121T044945Z.
private func compactTime(_ milliseconds: Int64) -> String {
    var text: [UInt8] = []
    text.appendRFC3339(milliseconds)
    return String(decoding: text.prefix(19).filter { isLetterOrDigit($0) }, as: UTF8.self) + "Z"
}
