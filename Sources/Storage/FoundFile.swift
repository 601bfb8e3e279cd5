/// A file ready to be written, and what was in it.
struct FoundFile: ~Copyable {
    var database: StorageDatabase
    var content: StorageContent
    /// Where the damaged one is that had its name, and what was wrong with it.
    var setAside: (path: String, reason: String)?

    /// Opens the file, or sets a damaged one aside and begins a fresh one.
    ///
    /// - Parameter now: milliseconds since the Unix epoch.
    static func open(
        _ configuration: StorageConfiguration, now: Int64, maySetAside: Bool = true
    ) throws(StorageRefusal) -> FoundFile {
        let path = configuration.path
        let identity = FileIdentity(path: path)
        guard !path.isEmpty, identity?.isRegular ?? true else { throw .notAFile }
        do throws(StorageRefusal) {
            return try openAsItIs(configuration)
        } catch {
            guard case .damaged(let reason) = error, maySetAside else { throw error }
            // Two processes may have found the same damage; what the other one has put there is not damaged.
            guard identity != nil, FileIdentity(path: path) == identity else { throw error }
            let target: String
            do throws(SettingAsideError) {
                target = try Storage.setAside(path: path, now: now)
            } catch {
                throw .unavailable("it is damaged (\(reason)) and cannot be renamed: \(error.reason)")
            }
            var found = try openAsItIs(configuration)
            found.setAside = (target, reason)
            return found
        }
    }

    private static func openAsItIs(_ configuration: StorageConfiguration) throws(StorageRefusal) -> FoundFile {
        let database = try StorageDatabase.open(path: configuration.path, scale: configuration.scale)
        let content = try database.content(capacity: configuration.capacity)
        return FoundFile(database: database, content: content)
    }
}
