import TestSupport
import Testing

@testable import Storage

@Suite("schema versions")
struct StorageSchemaTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }
    let cities = [makeCity("Delhi", points: makePoints(0..<2)), makeCity("Pune")]

    /// A schema of the future, two steps on.
    func future(lastStep: String) -> StorageSchema {
        StorageSchema(
            version: 4, creation: "",
            migrations: [
                3: "ALTER TABLE city ADD COLUMN station TEXT NOT NULL DEFAULT 'none'",
                4: lastStep,
            ])
    }

    @Test("an older file goes through every step, in one transaction, and keeps what it has")
    func migrates() throws {
        try store(cities, in: makeConfiguration(path))
        let schema = future(lastStep: "UPDATE city SET station = 'second step'; CREATE INDEX station ON city (station)")
        let database = try StorageDatabase.open(makeConfiguration(path), schema: schema)
        #expect(try database.content().cities == cities)
        database.closeComplete(hasAll: true)
        #expect(try integer("PRAGMA user_version", in: path) == 4)
        #expect(try integer("SELECT count(*) FROM city WHERE station = 'second step'", in: path) == 2)
    }

    @Test("a step that fails leaves the file in its old version")
    func migrationFails() throws {
        try store(cities, in: makeConfiguration(path))
        #expect(throws: StorageRefusal.damaged("no such table: nowhere")) {
            _ = try StorageDatabase.open(
                makeConfiguration(path), schema: future(lastStep: "DELETE FROM nowhere"))
        }
        #expect(try integer("PRAGMA user_version", in: path) == 2)
        #expect(try restoredCities(makeConfiguration(path)) == cities)
    }

    /// A file as the program wrote it before there was a log.
    static let firstVersion = """
        PRAGMA page_size=1024;
        PRAGMA journal_mode=WAL;
        CREATE TABLE city (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            aqi REAL NOT NULL,
            updated_ms INTEGER NOT NULL,
            received_ms INTEGER NOT NULL,
            category INTEGER NOT NULL,
            direction INTEGER NOT NULL,
            changed_ms INTEGER,
            better INTEGER NOT NULL,
            worse INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE point (
            city INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            aqi REAL NOT NULL,
            PRIMARY KEY (city, time_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE setting (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        PRAGMA application_id=\(0x4151_4958);
        PRAGMA user_version=1;
        INSERT INTO setting VALUES ('scale', 'india');
        INSERT INTO city VALUES
            (2, 'Delhi', 301.5, \(testTime), \(testTime), 5, -1, \(testTime - 5), 3, 4),
            (7, 'Pune', 50, \(testTime), \(testTime + 7), 1, 0, NULL, 0, 0);
        INSERT INTO point VALUES (2, \(testTime - 1000), 298), (2, \(testTime), 301.5), (7, \(testTime), 50);
        """

    @Test("a file of the first version is restored and goes on with a log", arguments: [false, true])
    func firstVersion(wasClosed: Bool) throws {
        try execute(
            Self.firstVersion + (wasClosed ? "INSERT INTO setting VALUES ('closed', 'with all counters')" : ""),
            on: path)
        var delhi = StoredCity(
            name: Array("Delhi".utf8), index: 301.5, updatedAt: testTime, receivedAt: testTime, category: 5,
            direction: -1, changedAt: testTime - 5, better: 3, worse: 4,
            points: [StoredPoint(time: testTime - 1000, index: 298), StoredPoint(time: testTime, index: 301.5)])
        if !wasClosed { delhi = withoutCounters(delhi) }
        let pune = makeCity("Pune", index: 50, points: [StoredPoint(time: testTime, index: 50)])

        let file = try open(makeConfiguration(path))
        #expect(file.outcome == .restored)
        #expect(file.cities == [delhi, pune])
        var again = pune
        again.points = makePoints(1..<2)
        file.file.stop()
        file.file.run(
            since: 3, changes: { _ in StorageBatch(version: 4, cities: [again]) }, onEvent: { Issue.record("\($0)") })
        again.points = pune.points + again.points
        #expect(try restoredCities(makeConfiguration(path)) == [delhi, again])
        #expect(try integer("PRAGMA user_version", in: path) == 2)
    }

    @Test(
        "a file of the first version on a read-only disk is restored",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func readOnlyFirstVersion() throws {
        let disk = try #require(MountedDisk(kibibytes: 1024))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        try execute(Self.firstVersion, on: configuration.path)
        disk.setReadOnly(true)
        let restored = try open(configuration)
        #expect(restored.outcome == .unavailable(reason: "the file is read-only"))
        #expect(restored.cities.map { String(decoding: $0.name, as: UTF8.self) } == ["Delhi", "Pune"])
        #expect(restored.cities.map(\.points.count) == [2, 1])
    }

    @Test("the current schema has a step for each version after the first")
    func isComplete() {
        #expect(Set(StorageSchema.current.migrations.keys) == Set(2..<StorageSchema.current.version + 1))
    }

    @Test("a newer file is refused and not touched")
    func refusesNewer() throws {
        try store(cities, in: makeConfiguration(path))
        try execute("PRAGMA user_version=3", on: path)
        let before = contents(of: path)
        #expect(
            throws: StorageError(
                .newerSchema,
                "storage file \"\(path)\": its schema is version 3, this program knows up to 2; it is left as it is")
        ) {
            _ = try open(makeConfiguration(path))
        }
        #expect(contents(of: path) == before)
    }
}
