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
            version: 3, creation: "",
            migrations: [
                2: "ALTER TABLE city ADD COLUMN station TEXT NOT NULL DEFAULT 'none'",
                3: lastStep,
            ])
    }

    @Test("an older file goes through every step, in one transaction, and keeps what it has")
    func migrates() throws {
        try store(cities, in: makeConfiguration(path))
        let schema = future(lastStep: "UPDATE city SET station = 'second step'; CREATE INDEX station ON city (station)")
        let database = try StorageDatabase.open(makeConfiguration(path), schema: schema)
        #expect(try database.content().cities == cities)
        database.closeComplete(hasAll: true)
        #expect(try integer("PRAGMA user_version", in: path) == 3)
        #expect(try integer("SELECT count(*) FROM city WHERE station = 'second step'", in: path) == 2)
    }

    @Test("a step that fails leaves the file in its old version")
    func migrationFails() throws {
        try store(cities, in: makeConfiguration(path))
        #expect(throws: StorageRefusal.damaged("no such table: nowhere")) {
            _ = try StorageDatabase.open(
                makeConfiguration(path), schema: future(lastStep: "DELETE FROM nowhere"))
        }
        #expect(try integer("PRAGMA user_version", in: path) == 1)
        #expect(try restoredCities(makeConfiguration(path)) == cities)
    }

    @Test("the current schema has a step for each version after the first")
    func isComplete() {
        #expect(Set(StorageSchema.current.migrations.keys) == Set(2..<StorageSchema.current.version + 1))
    }

    @Test("a newer file is refused and not touched")
    func refusesNewer() throws {
        try store(cities, in: makeConfiguration(path))
        try execute("PRAGMA user_version=2", on: path)
        let before = contents(of: path)
        #expect(
            throws: StorageError(
                .newerSchema,
                "storage file \"\(path)\": its schema is version 2, this program knows up to 1; it is left as it is")
        ) {
            _ = try open(makeConfiguration(path))
        }
        #expect(contents(of: path) == before)
    }
}
