import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite struct `Storage files that are damaged or foreign` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reason: String
        var change: @Sendable (inout [UInt8]) -> Void

        init(_ name: String, _ reason: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void) {
            testDescription = name
            self.reason = reason
            self.change = change
        }

        static let all = [
            Damage("first page of zeros", "it is damaged: file is not a database") { bytes in
                for place in 0..<512 { bytes[place] = 0 }
            },
            Damage("zeros followed by something else", "it is damaged: file is not a database") { bytes in
                for place in 0..<4096 { bytes[place] = place < 16 ? 0 : 0x55 }
            },
            Damage("a page of zeros", "it is damaged: ") { bytes in
                for place in 8192..<12288 { bytes[place] = 0 }
            },
            Damage("cut in half", "it is damaged: database disk image is malformed") {
                $0.removeLast($0.count / 2)
            },
            Damage("application_id of zeros", "it is damaged: its application_id is 0") {
                $0.replaceSubrange(68..<72, with: [0, 0, 0, 0])
            },
            Damage("an earlier schema", "its schema is version 3, that of an earlier release") { $0[63] = 3 },
            Damage("a schema without feeds", "its schema is version 4, that of an earlier release") { $0[63] = 4 },
            Damage("user_version of zeros", "its schema is version 0") {
                $0.replaceSubrange(60..<64, with: [0, 0, 0, 0])
            },
            Damage("an index out of range", "it is damaged: CHECK constraint failed in ") { bytes in
                // 7.625, the index of one city only.
                let aqi: [UInt8] = [0x40, 0x1E, 0x80, 0, 0, 0, 0, 0]
                let place = bytes.indices.first { bytes[$0...].starts(with: aqi) }!
                bytes[place] = 0x44
            },
            Damage("a format of the future", "it is damaged: its header says that it is read-only") { $0[18] = 9 },
            Damage("a list of free pages that leads nowhere", "it is damaged: ") { bytes in
                bytes.replaceSubrange(32..<40, with: [0, 0, 0, 99, 0, 0, 0, 5])
            },
            Damage("a table's definition", "it is damaged: ") { bytes in
                let name = Array("changed_ms".utf8)
                let place = bytes.indices.first { bytes[$0...].starts(with: name) }!
                bytes[place] = UInt8(ascii: "X")
            },
            Damage("a table with another name in the schema", "it is damaged: ") { bytes in
                let entry = Array("tablereadingreading".utf8)
                let place = bytes.indices.first { bytes[$0...].starts(with: entry) }!
                bytes[place + entry.count - 1] = UInt8(ascii: "X")
            },
        ]
    }

    @Test(arguments: Damage.all)
    func `A damaged file is moved aside unchanged, and a new one is created`(_ damage: Damage) throws {
        try save(
            makeStore(
                (0..<100).map { makeCity("city \($0)", aqi: $0 == 50 ? 7.625 : 8, points: makePoints(-24..<0)) }),
            in: path)
        var bytes = contents(of: path)
        damage.change(&bytes)
        write(bytes, to: path)

        let store = makeStore()
        let file = try open(path, store)
        guard case .quarantined(let target, let reason) = file.outcome else {
            Issue.record("\(file.outcome)")
            return
        }
        #expect(target == path + ".damaged-20261121T073625Z")
        #expect(reason.hasPrefix(damage.reason))
        #expect(!reason.contains("\n"))
        #expect(contents(of: target) == bytes)
        #expect(store.cities.isEmpty)
        #expect(file.statistics.errorCount == 1)
        store.receive("Pune", 7, at: 0)
        finish(file)
        let again = makeStore()
        _ = try open(path, again)
        #expect(again.cities == store.cities)
    }

    @Test func `A damaged file moves with its journal to a name that is not taken`() throws {
        try save(makeStore([makeCity("Pune")]), in: path)
        var bytes = contents(of: path)
        for place in 16..<60 { bytes[place] = 7 }
        write(bytes, to: path)
        write([1, 2, 3], to: path + "-wal")
        write([4], to: path + ".damaged-20261121T073625Z")
        _ = try open(path, makeStore())
        let target = path + ".damaged-20261121T073625Z-2"
        #expect(contents(of: target) == bytes)
        #expect(contents(of: target + "-wal") == [1, 2, 3])
        #expect(contents(of: path + ".damaged-20261121T073625Z") == [4])
    }

    @Test func `The damaged target of a symbolic link is moved aside, not the link`() throws {
        let elsewhere = TemporaryDirectory()
        write([UInt8](repeating: 0, count: 5000), to: elsewhere.file("real.db"))
        unsafe symlink(elsewhere.file("real.db"), path)
        _ = try open(path, makeStore())
        #expect(directory.names == ["storage.db"])
        #expect(elsewhere.names == ["real.db", "real.db-wal", "real.db.damaged-20261121T073625Z"])
    }

    @Test func `A symbolic link to a missing file creates the file`() throws {
        let elsewhere = TemporaryDirectory()
        unsafe symlink(elsewhere.file("real.db"), path)
        try save(makeStore([makeCity("Pune")]), in: path)
        #expect(elsewhere.names == ["real.db"])
    }

    // SQLite itself sometimes writes a single byte to make sure of a file.
    @Test(arguments: [([], ""), ([0], ""), ([], "VACUUM")])
    func `An empty file and an empty database are treated as new`(bytes: [UInt8], sql: String) throws {
        write(bytes, to: path)
        try execute(sql, on: path)
        try StorageFile.check(path)
        #expect(try open(path, makeStore()).outcome == .created)
    }

    @Test(
        arguments: [
            "CREATE TABLE long (\((0..<500).map { "column_\($0) TEXT" }.joined(separator: ", ")))",
            "CREATE TABLE city (name TEXT)", "CREATE TABLE dashboard (id); INSERT INTO dashboard VALUES (1)",
            "PRAGMA application_id=1", "PRAGMA application_id=7; PRAGMA journal_mode=WAL; CREATE TABLE a (b)",
        ])
    func `A database of another program is rejected and not touched`(sql: String) throws {
        try execute(sql, on: path)
        try expectRejection(path, "it is another program's database and was not changed")
    }

    @Test(arguments: ["storage: none\n", "{}", "x", "SQLite format 4 and something else"])
    func `A file of another kind is rejected and not touched`(_ content: String) throws {
        write(Array(content.utf8), to: path)
        try expectRejection(path, "it is not an SQLite file and was not changed; use a new name")
    }

    @Test(arguments: ["/tmp", "/dev/null", ""])
    func `A directory, a device and an empty name are rejected`(name: String) throws {
        try expectRejection(name, "expected the name of a regular file")
    }

    @Test func `A pipe and a loop of symbolic links are rejected`() throws {
        directory.makePipe("pipe")
        try expectRejection(directory.file("pipe"), "expected the name of a regular file")
        for place in 0..<3 { unsafe symlink("\(path)\((place + 1) % 3)", "\(path)\(place)") }
        try expectRejection(path + "0", "expected the name of a regular file")
        directory.makePipe("other-journal")
        #expect(throws: StorageError.notAFile.error(of: directory.file("other"))) {
            _ = try open(directory.file("other"), makeStore())
        }
    }

    private func expectRejection(_ path: String, _ reason: String) throws {
        let before = FileIdentityAndContents(path)
        let error = StorageError.rejected(reason).error(of: path)
        #expect(error.reason == "storage file \"\(path)\": \(reason)")
        #expect(throws: error) { _ = try open(path, makeStore()) }
        #expect(throws: error) { try StorageFile.check(path) }
        #expect(FileIdentityAndContents(path) == before)
    }

    @Test(arguments: [6, 99], [1, 200])
    func `A file of a later version is rejected and not touched, whatever its tables`(
        version: Int, tableCount: Int
    ) throws {
        try save(makeStore([makeCity("Pune")]), in: path)
        let tables = (0..<tableCount).map { "CREATE TABLE later_\($0) (value)" }.joined(separator: "; ")
        try execute("PRAGMA user_version=\(version); \(tables)", on: path)
        let known = "this program supports at most 5; it was not changed"
        try expectRejection(path, "its schema is version \(version), \(known)")
    }

    @Test(
        arguments: [
            "CREATE TRIGGER t AFTER UPDATE ON city BEGIN DELETE FROM city; END",
            "CREATE VIEW v AS SELECT * FROM city", "CREATE INDEX i ON city (abs(id))", "ANALYZE",
            """
            PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(
                sql, 'scale TEXT NOT NULL', 'scale TEXT NOT NULL CHECK (length(zeroblob(1000000000)) > 0)')
            """,
            """
            DROP TABLE reading; CREATE TABLE reading (time_ms INTEGER NOT NULL, city INTEGER NOT NULL, aqi REAL NOT NULL,
                bomb INTEGER GENERATED ALWAYS AS (length(zeroblob(1000000000))),
                PRIMARY KEY (time_ms, city)) STRICT, WITHOUT ROWID
            """,
        ])
    func `A file with triggers, views or altered tables is moved aside before they run`(sql: String) throws {
        try save(makeStore([makeCity("Pune")]), in: path)
        try execute(sql, on: path)
        #expect(try quarantineReason(of: path) == "it is damaged: its tables are not those of version 5")
    }
}

/// The mode of a file, and its bytes if it is a regular one.
private struct FileIdentityAndContents: Equatable {
    let bytes: [UInt8]
    let mode: mode_t

    init(_ path: String) {
        var status = stat()
        mode = unsafe lstat(path, &status) == 0 ? status.st_mode : 0
        bytes = mode & S_IFMT == S_IFREG ? contents(of: path) : []
    }
}
