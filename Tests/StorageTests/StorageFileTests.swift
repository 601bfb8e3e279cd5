import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite("what was written is restored")
struct RestoringTests {
    let directory = TemporaryDirectory()
    var configuration: StorageConfiguration { makeConfiguration(directory.file("storage.db")) }

    static let cities: [StoredCity] = [
        makeCity("Pune"),
        makeCity("a"),
        makeCity(String(repeating: "x", count: 128)),
        makeCity("दिल्ली 🌫️"),
        makeCity("O'Hare \"; DROP TABLE city; --"),
        makeCity("zero", index: 0),
        makeCity("fraction", index: 0.1 + 0.2),
        makeCity("most", index: 9999),
        makeCity("with points", points: makePoints(0..<25)),
        makeCity("one point", points: [StoredPoint(time: 0, index: 0)]),
        makeCity("last point", points: [StoredPoint(time: StorageLimits.maximumTime, index: 9999)]),
        StoredCity(
            name: Array("all members".utf8), index: 152, updatedAt: 1, receivedAt: 2, category: 6, direction: -1,
            changedAt: 3, better: 4, worse: UInt64(Int64.max), points: makePoints(5..<6)),
        StoredCity(
            name: Array("epoch".utf8), index: 1, updatedAt: 0, receivedAt: 0, category: 1, direction: 1, changedAt: 0),
    ]

    @Test("each by itself", arguments: cities)
    func one(_ city: StoredCity) throws {
        try store([city], in: configuration)
        #expect(try restoredCities(configuration) == [city])
    }

    @Test("all together, in the order in which they came")
    func all() throws {
        try store(Self.cities, in: configuration)
        #expect(directory.names == ["storage.db"], "a proper end leaves no journal")
        #expect(try restoredCities(configuration) == Self.cities)
    }

    @Test("the outcome, the scale and the figures say so")
    func opening() throws {
        let first = try open(configuration)
        #expect(first.outcome == .created)
        #expect(first.cities.isEmpty)
        #expect(first.file.statistics == StorageStatistics())
        first.file.stop()
        first.file.run(
            since: 0, changes: { _ in StorageBatch(version: 1, cities: [makeCity("Pune")]) },
            onEvent: { Issue.record("\($0)") })
        #expect(first.file.statistics == StorageStatistics(errorCount: 0, lastWriteAt: testTime))
        let second = try open(configuration)
        #expect(second.outcome == .restored)
        #expect(second.scale == "india")
        #expect(second.skippedRows == 0)
        #expect(second.file.statistics == StorageStatistics())
    }

    @Test("later batches change what earlier ones wrote")
    func batches() throws {
        let again = StoredCity(
            name: Array("Pune".utf8), index: 301, updatedAt: 9, receivedAt: 9, category: 5, direction: -1, changedAt: 9,
            better: 1, worse: 2, points: makePoints(1..<2))
        var whole = again
        whole.points = makePoints(0..<2)
        try store(
            [
                StorageBatch(version: 1, cities: [makeCity("Pune", points: makePoints(0..<1)), makeCity("Delhi")]),
                StorageBatch(version: 2, cities: [again]),
                StorageBatch(version: 3),
            ], in: configuration)
        #expect(try restoredCities(configuration) == [whole, makeCity("Delhi")])
    }

    @Test("a point given twice is one, and the later one of an instant wins")
    func repeatedPoints() throws {
        let corrected = StoredPoint(time: makePoints(1..<2)[0].time, index: 77)
        try store(
            [
                StorageBatch(version: 1, cities: [makeCity("Pune", points: makePoints(0..<2))]),
                StorageBatch(version: 2, cities: [makeCity("Pune", points: [corrected])]),
            ], in: configuration)
        #expect(try restoredCities(configuration).first?.points == makePoints(0..<1) + [corrected])
    }

    @Test("points come back by time, in whatever order they were given")
    func unsortedPoints() throws {
        try store([makeCity("Pune", points: makePoints(0..<9).reversed())], in: configuration)
        #expect(try restoredCities(configuration).first?.points == makePoints(0..<9))
    }

    @Test("removed cities take their points along; one that came back has only its new ones")
    func removal() throws {
        let points = makePoints(0..<3)
        try store(
            [
                StorageBatch(
                    version: 1,
                    cities: ["Agra", "Delhi", "Pune"].map { makeCity($0, points: points) }),
                StorageBatch(
                    version: 2, cities: [makeCity("Pune", points: makePoints(5..<6))],
                    removed: [Array("Pune".utf8), Array("Agra".utf8), Array("never heard of".utf8)]),
            ], in: configuration)
        #expect(
            try restoredCities(configuration).sorted { $0.name.lexicographicallyPrecedes($1.name) }
                == [makeCity("Delhi", points: points), makeCity("Pune", points: makePoints(5..<6))])
        #expect(try integer("SELECT count(*) FROM point", in: configuration.path) == 4)
    }

    @Test("a transaction that was committed survives a process that ends at once")
    func withoutClosing() throws {
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { _ in StorageBatch(version: 1, cities: Self.cities) }
        drop(writer)
        #expect(directory.names == ["storage.db", "storage.db-wal"])
        let cities = Self.cities.map(withoutCounters)
        #expect(try restoredCities(configuration) == cities)
        #expect(try restoredCities(configuration) == cities, "looking does not use it up")
    }

    @Test("what memory has from the file is not written again")
    func sinceVersion() throws {
        try store([makeCity("Pune")], in: configuration)
        let file = try open(configuration).file
        var asked: [UInt64] = []
        file.stop()
        file.run(
            since: 41,
            changes: {
                asked.append($0)
                return StorageBatch(version: 42)
            }, onEvent: { _ in })
        #expect(asked == [41])
        #expect(file.statistics.lastWriteAt == nil, "an empty batch is no write")
    }

    /// A point that comes while a batch is written is not in it, and would be lost although it is older than the write.
    @Test("the last write is not later than what it wrote")
    func lastWrite() throws {
        let clock = Mutex(testTime)
        @Sendable func tick() -> Int64 {
            clock.withLock { time in
                time += 1000
                return time
            }
        }
        let file = try StorageFile.open(configuration, now: tick).file
        var askedAt: Int64 = 0
        file.stop()
        file.run(
            since: 0,
            changes: { _ in
                askedAt = tick()
                return StorageBatch(version: 1, cities: [makeCity("Pune")])
            }, onEvent: { _ in })
        let writtenAt = try #require(file.statistics.lastWriteAt)
        #expect(writtenAt < askedAt)
    }

    @Test("names of files that mean something else to SQLite", arguments: [":memory:", "file:a.db", "a?b=c %41#.db"])
    func oddNames(name: String) throws {
        let configuration = makeConfiguration(directory.file(name))
        try store([makeCity("Pune")], in: configuration)
        #expect(directory.names == [name])
        #expect(try restoredCities(configuration) == [makeCity("Pune")])
        #expect(literalName(name) == "./" + name)
    }
}

@Suite("the file has as many points of a city as the history")
struct CapacityTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test("one at a time and many at once", arguments: [1, 2, 25, 1000])
    func trims(capacity: Int) throws {
        let configuration = makeConfiguration(path, capacity: capacity)
        let numbers = 0..<capacity + 7
        let single = numbers.map {
            StorageBatch(version: 1, cities: [makeCity("one", points: makePoints($0..<$0 + 1))])
        }
        try store(
            single + [StorageBatch(version: 1, cities: [makeCity("many", points: makePoints(numbers))])],
            in: configuration)
        let newest = makePoints(numbers.upperBound - capacity..<numbers.upperBound)
        #expect(try restoredCities(configuration).map(\.points) == [newest, newest])
        #expect(try integer("SELECT count(*) FROM point", in: path) == Int64(2 * capacity))
    }

    @Test("a smaller capacity restores the newest, and the file follows")
    func shrinks() throws {
        try store([makeCity("Pune", points: makePoints(0..<25))], in: makeConfiguration(path))
        let smaller = makeConfiguration(path, capacity: 3)
        #expect(try restoredCities(smaller).first?.points == makePoints(22..<25))
        try store([makeCity("Pune", points: makePoints(25..<26))], in: smaller)
        #expect(try restoredCities(makeConfiguration(path)).first?.points == makePoints(23..<26))
    }

    @Test("a larger capacity keeps what there is")
    func grows() throws {
        try store([makeCity("Pune", points: makePoints(0..<3))], in: makeConfiguration(path, capacity: 3))
        try store([makeCity("Pune", points: makePoints(3..<6))], in: makeConfiguration(path, capacity: 100))
        #expect(try restoredCities(makeConfiguration(path, capacity: 100)).first?.points == makePoints(0..<6))
    }
}

@Suite("another scale")
struct ScaleTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test("the caller is told, and the first batch replaces the file")
    func replaces() throws {
        try store([makeCity("Delhi"), makeCity("Pune", points: makePoints(0..<3))], in: makeConfiguration(path))
        let us = makeConfiguration(path, scale: "us")
        let restored = try open(us)
        #expect(restored.scale == "india")
        #expect(restored.cities.count == 2)
        var asked: [UInt64] = []
        restored.file.stop()
        restored.file.run(
            since: 17,
            changes: {
                asked.append($0)
                return StorageBatch(version: 18, cities: [makeCity("Pune", points: makePoints(0..<3))])
            }, onEvent: { _ in })
        #expect(asked == [0])
        let again = try open(us)
        #expect(again.scale == "us")
        #expect(again.cities == [makeCity("Pune", points: makePoints(0..<3))])
    }

    @Test("until then the file stays as it is")
    func keeps() throws {
        try store([makeCity("Pune")], in: makeConfiguration(path))
        _ = try open(makeConfiguration(path, scale: "us"))
        let restored = try open(makeConfiguration(path))
        #expect(restored.scale == "india")
        #expect(restored.cities == [makeCity("Pune")])
    }

    @Test("with no city left the scale changes all the same")
    func empties() throws {
        try store([makeCity("Pune")], in: makeConfiguration(path))
        try store([StorageBatch(version: 1)], in: makeConfiguration(path, scale: "us"))
        let restored = try open(makeConfiguration(path, scale: "us"))
        #expect(restored.scale == "us")
        #expect(restored.cities.isEmpty)
    }
}

/// Gives up a writer without closing its file.
func drop(_ writer: consuming StorageWriter) {}
