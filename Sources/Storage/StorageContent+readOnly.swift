internal import CSQLite

extension StorageContent {
    /// What can be read of a file that cannot be written, its journal included.
    ///
    /// Counters begin anew: how far they get cannot be kept, and the next start must not find them as they were.
    static func ofReadOnlyFile(_ configuration: StorageConfiguration) -> StorageContent {
        let path = resolved(configuration.path)
        // Without a journal beside it SQLite would have to create one, unless it takes the file for immutable; with one
        // it would have to lock the file for writing, unless it takes locks for needless.
        let option = FileIdentity(path: path + "-wal") == nil ? "immutable=1" : "vfs=unix-none"
        do throws(SQLiteError) {
            let connection = try SQLiteConnection(
                name: "file:\(percentEncoded(path))?\(option)", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            try StorageDatabase.configure(connection)
            let applicationID = try connection.integer("PRAGMA application_id")
            guard
                try StorageDatabase.refusal(of: connection, applicationID: applicationID, schema: .current) == nil,
                try connection.integer("PRAGMA user_version") == StorageSchema.current.version
            else { return StorageContent() }
            let scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'")
            var content = try StorageContent(connection, scale: scale, capacity: configuration.capacity)
            for index in content.cities.indices {
                content.cities[index].better = 0
                content.cities[index].worse = 0
            }
            return content.pointsAreInOrder ? content : StorageContent()
        } catch {
            return StorageContent()
        }
    }
}

/// For the path of a URI, RFC 3986 section 3.3.
private func percentEncoded(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let plain = Set("/-._~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    return String(
        decoding: path.utf8.flatMap { byte in
            plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }, as: UTF8.self)
}
