import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite("files that are not as they should be")
struct DamagedFileTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }
    var configuration: StorageConfiguration { makeConfiguration(path) }

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
            Damage("text", "file is not a database") { $0 = Array("storage: none\n".utf8) },
            Damage("first page of zeros", "file is not a database") { bytes in
                for place in 0..<1024 { bytes[place] = 0 }
            },
            Damage("a page of zeros", "") { bytes in
                for place in 1024..<2048 { bytes[place] = 0 }
            },
            Damage("cut in half", "database disk image is malformed") { $0.removeLast($0.count / 2) },
            Damage("application_id of zeros", "its application_id is 0") {
                $0.replaceSubrange(68..<72, with: [0, 0, 0, 0])
            },
            Damage("user_version of zeros", "its user_version is 0") {
                $0.replaceSubrange(60..<64, with: [0, 0, 0, 0])
            },
            Damage("a format of the future", "its header says that it is read-only") { $0[18] = 9 },
            Damage("a name that its index has not", "row ") { bytes in
                let name = Array("city 42".utf8)
                let place = bytes.indices.first { bytes[$0...].starts(with: name) }!
                bytes[place] = UInt8(ascii: "C")
            },
            Damage("a list of free pages that leads nowhere", "") { bytes in
                bytes.replaceSubrange(32..<40, with: [0, 0, 0, 99, 0, 0, 0, 5])
            },
            Damage("a table's definition", "") { bytes in
                let name = Array("received_ms".utf8)
                let place = bytes.indices.first { bytes[$0...].starts(with: name) }!
                bytes[place] = UInt8(ascii: "X")
            },
        ]
    }

    @Test("a damaged one is moved aside with its bytes, and a new one created", arguments: Damage.all)
    func setsAside(_ damage: Damage) throws {
        try store((0..<100).map { makeCity("city \($0)", points: makePoints(0..<25)) }, in: configuration)
        var bytes = contents(of: path)
        damage.change(&bytes)
        write(bytes, to: path)

        let restored = try open(configuration)
        guard case .quarantined(let target, let reason) = restored.outcome else {
            Issue.record("\(restored.outcome)")
            return
        }
        #expect(target == path + ".damaged-20261121T044945Z")
        #expect(reason.hasPrefix(damage.reason))
        #expect(!reason.contains("\n"))
        #expect(contents(of: target) == bytes)
        #expect(restored.cities.isEmpty)
        #expect(restored.scale == nil)
        #expect(restored.file.statistics.errorCount == 1)
        restored.file.stop()
        restored.file.run(
            since: 9, changes: { since in StorageBatch(version: 9, cities: since == 0 ? [makeCity("Pune")] : []) },
            onEvent: { Issue.record("\($0)") })
        #expect(try restoredCities(configuration) == [makeCity("Pune")])
    }

    @Test("its journal goes along, and names already taken are left alone")
    func journal() throws {
        try store([makeCity("Pune")], in: configuration)
        var bytes = contents(of: path)
        for place in 0..<100 { bytes[place] = 7 }
        write(bytes, to: path)
        write([1, 2, 3], to: path + "-wal")
        write([4], to: path + ".damaged-20261121T044945Z")
        _ = try open(configuration)
        let target = path + ".damaged-20261121T044945Z-2"
        #expect(contents(of: target) == bytes)
        #expect(contents(of: target + "-wal") == [1, 2, 3])
        #expect(contents(of: path + ".damaged-20261121T044945Z") == [4])
    }

    @Test("through a symbolic link the file itself is moved aside")
    func symbolicLink() throws {
        let elsewhere = TemporaryDirectory()
        write(Array("no database".utf8), to: elsewhere.file("real.db"))
        unsafe symlink(elsewhere.file("real.db"), path)
        _ = try open(configuration)
        #expect(directory.names == ["storage.db"])
        #expect(elsewhere.names == ["real.db", "real.db-wal", "real.db.damaged-20261121T044945Z"])
    }

    // SQLite itself writes a single byte at times, to make sure of a file.
    @Test("an empty file and an empty database are as good as none", arguments: [([], ""), ([0], ""), ([], "VACUUM")])
    func empty(bytes: [UInt8], sql: String) throws {
        write(bytes, to: path)
        try execute(sql, on: path)
        #expect(try open(configuration).outcome == .created)
    }

    @Test(
        "another program's database is refused and not touched",
        arguments: [
            "CREATE TABLE city (name TEXT)", "CREATE TABLE dashboard (id); INSERT INTO dashboard VALUES (1)",
            "PRAGMA application_id=1", "PRAGMA application_id=7; PRAGMA journal_mode=WAL; CREATE TABLE a (b)",
        ])
    func foreign(sql: String) throws {
        try execute(sql, on: path)
        let before = contents(of: path)
        #expect(
            throws: StorageError(
                .foreign, "storage file \"\(path)\": it is a database of another program and is left as it is")
        ) {
            _ = try open(configuration)
        }
        #expect(contents(of: path) == before)
    }

    @Test("a directory, a device and an empty name are refused", arguments: ["/tmp", "/dev/null", ""])
    func notAFile(name: String) {
        #expect(
            throws: StorageError(.notAFile, "storage file \"\(name)\": expected the name of a regular file")
        ) {
            _ = try open(makeConfiguration(name))
        }
    }

    @Test("nothing that stands in the file runs")
    func triggers() throws {
        try store([makeCity("Pune")], in: configuration)
        try execute("CREATE TRIGGER t AFTER UPDATE ON city BEGIN DELETE FROM city; END", on: path)
        try store([makeCity("Pune", index: 7)], in: configuration)
        #expect(try restoredCities(configuration) == [makeCity("Pune", index: 7)])
    }

    /// Damages a sound file and its journal at random; `STORAGE_FUZZ_COUNT` and `STORAGE_FUZZ_SEED` set how often and how.
    @Test("random damage: what is restored makes sense, or the file is moved aside; both can be written to")
    func fuzz() throws {
        let count = unsafe getenv("STORAGE_FUZZ_COUNT").flatMap { unsafe Int(String(cString: $0)) } ?? 300
        let seed = unsafe getenv("STORAGE_FUZZ_SEED").flatMap { unsafe UInt64(String(cString: $0)) } ?? 1
        var random = SeededRandom(seed: seed)
        let cities = (0..<60).map { makeCity("city \($0)", index: Double($0), points: makePoints(0..<20)) }
        // Once as a proper end leaves it, and once as a kill does.
        try store(Array(cities[..<40]), in: configuration)
        let closed = contents(of: path)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { _ in StorageBatch(version: 2, cities: cities) }
        drop(writer)
        let (killed, journal) = (contents(of: path), contents(of: path + "-wal"))
        #expect([closed, killed, journal].allSatisfy { $0.count > 10_000 })

        var outcomes: [String: Int] = [:]
        for round in 0..<count {
            let disk = TemporaryDirectory(in: "/dev/shm")
            let configuration = makeConfiguration(disk.file("f"))
            var file = closed
            if round % 2 == 0 {
                file = killed
                var journal = journal
                if round % 4 == 0 { damage(&journal, using: &random) }
                write(journal, to: configuration.path + "-wal")
            }
            if round % 4 != 0 { damage(&file, using: &random) }
            write(file, to: configuration.path)
            do throws(StorageError) {
                let restored = try open(configuration)
                #expect(
                    restored.cities.allSatisfy { $0.isPlausible(within: testLimits) && $0.points.count <= 25 },
                    "round \(round)")
                switch restored.outcome {
                case .restored: outcomes["restored", default: 0] += 1
                case .quarantined: outcomes["quarantined", default: 0] += 1
                case .created: outcomes["created", default: 0] += 1
                case .unavailable(let reason): outcomes["unavailable: \(reason)", default: 0] += 1
                }
                var events: [StorageEvent] = []
                restored.file.stop()
                restored.file.run(
                    since: 1, changes: { StorageBatch(version: 2, cities: $0 == 0 ? cities : [cities[0]]) },
                    onEvent: { events.append($0) })
                if events.isEmpty {
                    #expect(try open(configuration).cities.contains { $0.name == cities[0].name }, "round \(round)")
                } else {
                    outcomes["\(events)", default: 0] += 1
                }
            } catch {
                outcomes["\(error.code)", default: 0] += 1
            }
        }
        print("outcomes of \(count) damaged files: \(outcomes.sorted { $0.value > $1.value })")
        #expect(outcomes["restored"] != nil && outcomes["quarantined"] != nil)
    }

    private func damage(_ bytes: inout [UInt8], using random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...3000, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: for index in place..<end { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            case 3: for index in place..<end { bytes[index] = 0 }
            case 4: bytes.removeSubrange(place...)
            case 5: bytes.removeSubrange(place..<end)
            default:
                // The header, where a byte means most.
                bytes[place % 100] = UInt8.random(in: 0...255, using: &random)
            }
        }
    }
}
