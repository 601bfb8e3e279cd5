import AirQuality
import TestSupport
import Testing

@testable import Storage

/// `EndToEnd/hostile/test_storage.py` measures the memory that such files take.
@Suite struct `A storage file that has more than it should` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    init() throws { try save(makeStore([makeCity("Pune", points: makePoints(-5..<0))]), in: path) }

    @Test(
        arguments: [
            "UPDATE city SET name = printf('%.*c', 1000000, 'x')",
            "UPDATE city SET scale = printf('%.*c', 1000000, 'x')",
            "UPDATE city SET feed = printf('%.*c', 1000000, 'x')",
            "UPDATE city SET country = printf('%.*c', 1000000, 'x')",
            "UPDATE city SET latitude = 90.5", "UPDATE city SET longitude = -9e999",
            "CREATE TABLE t (\((0..<900).map { "column_\($0) TEXT" }.joined(separator: ", ")))",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
                + "INSERT INTO reading SELECT i, 7e15 + i, 1 FROM n",
        ])
    func `A file with values or definitions that we never write is moved aside`(sql: String) throws {
        try execute("PRAGMA ignore_check_constraints=ON; " + sql, on: path)
        #expect(try quarantineReason(of: path).hasPrefix("it is damaged: "))
    }

    @Test func `Cities within the limit are restored with their newest points, and others are deleted`() throws {
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5099)
            INSERT INTO city (id, name, scale, direction) SELECT i, 'City ' || i, 'india', 0 FROM n;
            INSERT INTO reading SELECT \(testTime) - 1000 * n.value, id, n.value FROM city, (
                SELECT 1 AS value UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) AS n WHERE id >= 100;
            """, on: path)
        let store = ReadingStore(
            rules: StoreRules(history: HistoryRule(capacity: 3, interval: 0), cityLimit: 10), feeds: [], at: testTime)
        let file = try open(path, store)
        #expect(file.outcome == .restored(cities: 10, leftOut: 4991))
        #expect(store.cities.count == 10)
        #expect(store.indices(of: "City 100") == [3, 2, 1] && store.indices(of: "Pune") == [3, 2, 1])
        finish(file)
        #expect(try integer("SELECT count(*) FROM city", in: path) == 10)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 30)
    }

    @Test func `Readings without a city are deleted`() throws {
        try execute("INSERT INTO reading VALUES (1, 99, 1), (\(testTime), 100, 1)", on: path)
        let file = try open(path, makeStore())
        finish(file)
        #expect(try integer("SELECT count(*) FROM reading WHERE city = 99", in: path) == 0)
    }

    @Test func `Millions of outdated points are deleted within the memory limit`() throws {
        try addOutdatedPoints(4_500_000)
        let store = makeStore(capacity: 3)
        var database = try opened(store)
        _ = try database.write(store.snapshot(withHistories: true), isLast: false)
        while try database.evictPart() {}
        database.close()
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 3)
    }

    @Test func `New points are committed before old ones are deleted in parts`() throws {
        try addOutdatedPoints(45_000)
        let store = makeStore(capacity: 3)
        var database = try opened(store)
        store.receive("Pune", 7, at: 1)
        _ = try database.write(store.snapshot(withHistories: true), isLast: false)
        // The files as a kill would leave them.
        let copy = directory.file("copy.db")
        write(contents(of: path), to: copy)
        write(contents(of: path + "-wal"), to: copy + "-wal")
        #expect(try integer("SELECT count(*) FROM reading WHERE aqi = 7", in: copy) == 1)
        #expect(try integer("SELECT count(*) FROM reading", in: copy) > 45000)
        var parts = 1
        while try database.evictPart() { parts += 1 }
        database.close()
        #expect(parts == 3)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 3)
    }

    @Test func `Points of a city that expires while old ones are deleted are deleted as well`() throws {
        try addOutdatedPoints(45_000)
        let store = makeStore(expireAfter: 1000)
        var database = try opened(store)
        store.receive("Agra", 7, at: 20_000)
        _ = try database.write(store.snapshot(withHistories: true), isLast: false)
        let isUnfinished = try database.evictPart()
        #expect(isUnfinished)
        #expect(store.expire(at: openingTime + 2000) == 1)
        store.receive("Agra", 8, at: 20_001)
        _ = try database.write(store.snapshot(withHistories: true), isLast: false)
        while try database.evictPart() {}
        database.close()
        #expect(try integer("SELECT count(*) FROM city", in: path) == 1)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 2)
    }

    /// Adds points that left the memory to each city.
    private func addOutdatedPoints(_ count: Int) throws {
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO reading SELECT \(testTime) - 10000000 + i, id, 1 FROM n, city
            """, on: path)
    }

    /// The file, open for writing, after its cities were restored.
    private func opened(_ store: ReadingStore) throws -> StorageDatabase {
        var database = try StorageDatabase.open(path, cityLimit: 10)
        store.restore(try database.read(store.rules).cities, at: openingTime)
        try database.requireWritable()
        return database
    }

    @Test func `The counters of cities on many pages are cleared within the memory limit`() throws {
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO city (id, name, scale, direction, better, worse)
                SELECT i, printf('%.*c', 3000, 'x'), 'india', 0, 1, 1 FROM n
            """, on: path)
        let store = makeStore()
        let file = try open(path, store)
        store.receive("Pune", 1, at: 0)
        finish(file)
        #expect(try restored(path).indices(of: "Pune").last == 1)
    }

    @Test func `A new city never inherits the readings of a removed one`() throws {
        try execute("DELETE FROM city; UPDATE reading SET city = 7", on: path)
        let store = makeStore()
        var writer = try makeWriter(path, store)
        store.receive((0..<9).map { "City \($0)" }, 1, at: 0)
        _ = writer.pass(now: testTime)
        drop(writer)
        #expect(try restored(path).cities == killed(store.cities))
    }

    @Test(
        arguments: [
            "printf('%.*c', 129, 'x')", "'a' || char(0)", "'a' || char(13) || 'b'", "CAST(x'50FF' AS TEXT)",
            "CAST(x'EDA080' AS TEXT)", "NULL", "''",
        ])
    func `A city whose feed or country is invalid is restored without it`(value: String) throws {
        // SQLite stores NaN as NULL.
        try execute("UPDATE city SET feed = \(value), country = \(value), latitude = 9e999 - 9e999", on: path)
        let city = try #require(restored(path).cities.first)
        #expect(city.feedLabel.isEmpty && city.place == nil && city.points.count == 5)
    }

    @Test(arguments: ["name = ''", "name = ' Pune'", "name = CAST(x'50FF' AS TEXT)", "name = CAST(x'EDA080' AS TEXT)"])
    func `A city with an invalid name is deleted`(assignment: String) throws {
        try execute("UPDATE city SET \(assignment)", on: path)
        let store = makeStore()
        let file = try open(path, store)
        #expect(store.cities.isEmpty)
        finish(file)
        #expect(try integer("SELECT count(*) FROM city", in: path) == 0)
    }
}
