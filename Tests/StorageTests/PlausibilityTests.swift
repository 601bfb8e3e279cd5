import TestSupport
import Testing

@testable import Storage

struct ImplausibleCity: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// What it is in the file.
    var assignment: String
    /// What it is in memory; nil where its type forbids it.
    var change: (@Sendable (inout StoredCity) -> Void)?

    init(_ name: String, _ assignment: String, _ change: (@Sendable (inout StoredCity) -> Void)? = nil) {
        testDescription = name
        self.assignment = assignment
        self.change = change
    }

    static let all = [
        ImplausibleCity("no name", "name = ''") { $0.name = [] },
        ImplausibleCity("129 bytes of name", "name = printf('%.129c', 'x')") {
            $0.name = Array(repeating: 0x78, count: 129)
        },
        ImplausibleCity("not UTF-8", "name = CAST(x'50FF' AS TEXT)") { $0.name = [0x50, 0xFF] },
        ImplausibleCity("a surrogate", "name = CAST(x'EDA080' AS TEXT)") { $0.name = [0xED, 0xA0, 0x80] },
        ImplausibleCity("negative index", "aqi = -0.5") { $0.index = -0.5 },
        ImplausibleCity("index above 9999", "aqi = 9999.5") { $0.index = 9999.5 },
        ImplausibleCity("infinite index", "aqi = 1e999") { $0.index = .infinity },
        ImplausibleCity("time before 1970", "updated_ms = -1") { $0.updatedAt = -1 },
        ImplausibleCity("time after 9999", "updated_ms = 253402300800000") { $0.updatedAt = 253_402_300_800_000 },
        ImplausibleCity("the last integer as a time", "received_ms = 9223372036854775807") { $0.receivedAt = .max },
        ImplausibleCity("the first integer as a time", "received_ms = -9223372036854775808") { $0.receivedAt = .min },
        ImplausibleCity("category 0", "category = 0") { $0.category = 0 },
        ImplausibleCity("category 7", "category = 7") { $0.category = 7 },
        ImplausibleCity("category of another size", "category = 257"),
        ImplausibleCity("direction 2", "direction = 2") { $0.direction = 2 },
        ImplausibleCity("direction of another size", "direction = -257"),
        ImplausibleCity("changed before 1970", "changed_ms = -1") { $0.changedAt = -1 },
        ImplausibleCity("negative counter", "better = -1"),
        ImplausibleCity("counter too large for the file", "worse = -9223372036854775808") {
            $0.worse = UInt64(Int64.max) + 1
        },
    ]
}

@Suite("rows that make no sense")
struct PlausibilityTests {
    let directory = TemporaryDirectory()
    var configuration: StorageConfiguration { makeConfiguration(directory.file("storage.db")) }

    @Test(
        "are skipped and counted, with their points, and are gone after the next batch", arguments: ImplausibleCity.all)
    func skipsCities(_ scenario: ImplausibleCity) throws {
        let points = makePoints(0..<2)
        let good = [makeCity("Agra", points: points), makeCity("Pune", points: points)]
        try store([good[0], makeCity("Delhi", points: points), good[1]], in: configuration)
        try execute("UPDATE city SET \(scenario.assignment) WHERE name = 'Delhi'", on: configuration.path)

        let restored = try open(configuration)
        #expect(restored.outcome == .restored)
        #expect(restored.cities == good)
        #expect(restored.skippedRows == 3)
        restored.file.stop()
        restored.file.run(
            since: 5, changes: { since in StorageBatch(version: 5, cities: since == 0 ? good : []) }, onEvent: { _ in })
        let again = try open(configuration)
        #expect(again.cities == good)
        #expect(again.skippedRows == 0)
    }

    @Test("are not written, and their neighbours are", arguments: ImplausibleCity.all.filter { $0.change != nil })
    func refusesCities(_ scenario: ImplausibleCity) throws {
        var bad = makeCity("Delhi")
        scenario.change?(&bad)
        let events = try store(
            [StorageBatch(version: 1, cities: [makeCity("Agra"), bad, makeCity("Pune")])], in: configuration)
        #expect(events.isEmpty)
        #expect(try restoredCities(configuration) == [makeCity("Agra"), makeCity("Pune")])
    }

    @Test(
        "points are skipped by themselves",
        arguments: [
            StoredPoint(time: -1, index: 1), StoredPoint(time: 253_402_300_800_000, index: 1),
            StoredPoint(time: .min, index: 1), StoredPoint(time: .max, index: 1),
            StoredPoint(time: 1, index: -1), StoredPoint(time: 1, index: 10000), StoredPoint(time: 1, index: .infinity),
        ])
    func points(_ bad: StoredPoint) throws {
        let points = makePoints(0..<3)
        try store([makeCity("Pune", points: [bad] + points)], in: configuration)
        #expect(try restoredCities(configuration).first?.points == points)

        let index = bad.index.isInfinite ? "1e999" : "\(bad.index)"
        try execute("INSERT INTO point SELECT id, \(bad.time), \(index) FROM city", on: configuration.path)
        let restored = try open(configuration)
        #expect(restored.cities.first?.points == points)
        #expect(restored.skippedRows == 1)
    }

    @Test("points of no city are skipped")
    func orphans() throws {
        try store([makeCity("Pune", points: makePoints(0..<1))], in: configuration)
        try execute("INSERT INTO point VALUES (-5, 1, 1), (0, 1, 1), (99, 1, 1), (99, 2, 1)", on: configuration.path)
        let restored = try open(configuration)
        #expect(restored.cities == [makeCity("Pune", points: makePoints(0..<1))])
        #expect(restored.skippedRows == 4)
    }

    @Test("a not-a-number is not written")
    func notANumber() throws {
        let bad = makeCity("Delhi", index: .nan)
        let point = StoredPoint(time: 1, index: .nan)
        try store([bad, makeCity("Pune", points: [point])], in: configuration)
        #expect(try restoredCities(configuration) == [makeCity("Pune")])
    }
}
