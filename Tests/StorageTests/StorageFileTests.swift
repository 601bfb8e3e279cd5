import AirQuality
import Bytes
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite("what was written is restored") struct RestoringTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    static let cities: [City] = [
        makeCity("Pune"), makeCity("a"), makeCity(String(repeating: "x", count: 128)), makeCity("दिल्ली 🌫️"),
        makeCity("O'Hare \"; DROP TABLE city; --"), makeCity("zero", index: 0), makeCity("fraction", index: 0.1 + 0.2),
        makeCity("most", index: 9999), makeCity("with points", points: makePoints(-25..<0)),
        makeCity("newer points", points: makePoints(0..<25)),
        City(
            id: 0, name: Array("the newest point".utf8), index: 0, updatedAt: testTime, receivedAt: testTime + 7,
            category: 1, points: makePoints(-3..<1)),
        makeCity("one point", points: [HistoryPoint(time: 0, index: 0, category: 1)]),
        makeCity("last point", points: [HistoryPoint(time: City.times.upperBound, index: 9999, category: 6)]),
        City(
            id: 0, name: Array("all members".utf8), index: 152, updatedAt: 1, receivedAt: 2, category: 6,
            changes: changes(better: 4, worse: UInt64(Int64.max), at: 3, direction: -1), points: makePoints(5..<6)),
        City(
            id: 0, name: Array("epoch".utf8), index: 1, updatedAt: 0, receivedAt: 0, category: 1,
            changes: changes(better: 0, worse: 0, at: 0, direction: 1)),
    ]

    static func changes(better: UInt64, worse: UInt64, at time: Int64, direction: Int8) -> CategoryChanges {
        var changes = CategoryChanges()
        (changes.better, changes.worse, changes.changedAt, changes.direction) = (better, worse, time, direction)
        return changes
    }

    @Test("each by itself", arguments: cities) func one(_ city: City) throws {
        let store = makeStore([city])
        try save(store, in: path)
        #expect(try restored(path).cities == store.cities)
    }

    @Test("all together, and the file is one") func all() throws {
        let store = makeStore(Self.cities)
        #expect(store.cities.count == Self.cities.count)
        try save(store, in: path)
        #expect(directory.names == ["storage.db"], "a proper end leaves no journal")
        #expect(try restored(path).cities == store.cities)
    }

    @Test("the outcome and the figures say so") func opening() throws {
        let store = makeStore()
        let first = try open(path, store)
        #expect(first.outcome == .created && first.cityCount == 0)
        #expect(first.file.statistics == StorageStatistics())
        store.receive("Pune", 7, at: 0)
        finish(first.file)
        #expect(first.file.statistics == StorageStatistics(errorCount: 0, lastWriteAt: openingTime))
        let second = try open(path, makeStore())
        #expect(second.outcome == .restored && second.cityCount == 1 && second.skippedRows == 0)
        #expect(second.file.statistics == StorageStatistics())
    }

    @Test("later batches change what earlier ones wrote") func batches() throws {
        let store = makeStore(capacity: 3)
        var writer = try makeWriter(path, store)
        for second in 0..<20 {
            store.receive(second % 3 == 0 ? ["Agra", "Pune"] : ["Pune"], Double(second * 25), at: second)
            #expect(writer.pass(now: testTime).hasWritten)
            #expect(!writer.pass(now: testTime).hasWritten)
        }
        finish(writer)
        let again = try restored(path, capacity: 3)
        #expect(again.cities == store.cities && again.indices(of: "Pune") == [425, 450, 475])
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 6)
    }

    @Test("a point that is replaced is one, and the later one of an instant wins") func repeatedPoints() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        for index in [1, 2, 2, 3] as [Double] {
            store.receive("Pune", index, at: 0)
            _ = writer.pass(now: testTime)
        }
        finish(writer)
        #expect(try restored(path).indices(of: "Pune") == [3])
    }

    @Test("removed cities take their points along; one that came back has only its new ones") func removal() throws {
        let store = makeStore(expireAfter: 10_000)
        var writer = try makeWriter(path, store)
        store.receive(["Agra", "Pune"], 1, at: 0)
        store.receive("Delhi", 2, at: 9)
        _ = writer.pass(now: testTime)
        #expect(store.expire(at: testTime + 10_001) == 2)
        store.receive("Pune", 3, at: 11)
        _ = writer.pass(now: testTime)
        finish(writer)
        #expect(try restored(path).cities == store.cities)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 2)
    }

    @Test("readings of a city that is gone are not there after a kill either") func removalAndKill() throws {
        let store = makeStore(expireAfter: 10_000)
        var writer = try makeWriter(path, store)
        store.receive(["Agra", "Pune"], 1, at: 0)
        _ = writer.pass(now: testTime)
        #expect(store.expire(at: testTime + 10_001) == 2)
        store.receive("Pune", 3, at: 11)
        _ = writer.pass(now: testTime)
        drop(writer)
        let again = makeStore()
        let file = try open(path, again)
        #expect(again.cities == store.cities && file.skippedRows == 0)
        finish(file.file)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 1)
    }

    @Test("points that a clock which was set back removed are gone from the file as well") func setBack() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        for second in 0..<9 { store.receive(["Agra", "Pune"], Double(second), at: second) }
        _ = writer.pass(now: testTime)
        store.receive("Pune", 70, at: 4)
        store.receive("Pune", 80, at: 20)
        _ = writer.pass(now: testTime)
        drop(writer)
        let again = try restored(path)
        #expect(again.indices(of: "Pune") == [0, 1, 2, 3, 70, 80])
        #expect(withoutCounters(again.cities) == withoutCounters(store.cities))
    }

    @Test("a transaction that was committed survives a process that ends at once") func withoutClosing() throws {
        let store = makeStore(Self.cities)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        drop(writer)
        #expect(directory.names == ["storage.db", "storage.db-wal"])
        #expect(try restored(path).cities == withoutCounters(store.cities))
        #expect(try restored(path).cities == withoutCounters(store.cities), "looking does not use it up")
    }

    @Test("what memory has from the file is not written again") func unchanged() throws {
        try save(makeStore(Self.cities), in: path)
        let file = try open(path, makeStore()).file
        finish(file)
        #expect(file.statistics.lastWriteAt == nil)
    }

    @Test("a value that is no point waits for the end or for half a minute, and is one row")
    func currentValues() throws {
        let store = ReadingStore(rules: StoreRules(), feeds: [""], at: testTime)
        var writer = try makeWriter(path, store)
        var written: [Int] = []
        for second in 0..<70 {
            store.receive("Pune", Double(second) / 10, at: second)
            if writer.pass(now: testTime + Int64(second) * 1000).hasWritten { written.append(second) }
        }
        // Points: 0, 1, 31 and 61.
        #expect(written == [0, 1, 31, 61])
        finish(writer)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 5)
        #expect(try restored(path).cities == store.cities)
    }

    /// A point that comes while a batch is written is not in it, and would be lost although it is older than the write.
    @Test("the last write is not later than what it wrote") func lastWrite() throws {
        let clock = Mutex(openingTime)
        let store = makeStore()
        let file = try StorageFile.open(path, store: store) {
            clock.withLock { time in
                time += 1000
                return time
            }
        }
        store.receive("Pune", 7, at: 0)
        finish(file.file)
        #expect(file.file.statistics.lastWriteAt == clock.withLock(\.self))
    }

    @Test("names of files that mean something else to SQLite", arguments: [":memory:", "file:a.db", "a?b=c %41#.db"])
    func oddNames(name: String) throws {
        try save(makeStore([makeCity("Pune")]), in: directory.file(name))
        #expect(directory.names == [name])
        #expect(try restored(directory.file(name)).cities == [makeCity("Pune")])
        #expect(literalName(name) == "./" + name)
    }
}

@Suite("the file has as many points of a city as the history") struct CapacityTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test("one at a time and many at once", arguments: [1, 2, 25, 1000])
    func trims(capacity: Int) throws {
        let store = makeStore(capacity: capacity)
        var writer = try makeWriter(path, store)
        for second in 0..<capacity + 7 {
            store.receive("one", Double(second), at: second)
            _ = writer.pass(now: testTime)
        }
        for second in 0..<capacity + 7 { store.receive("many", Double(second), at: second) }
        finish(writer)
        #expect(try restored(path, capacity: capacity).cities == store.cities)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == Int64(2 * capacity))
    }

    @Test("a smaller capacity restores the newest, and the file follows; a larger one keeps what there is")
    func otherCapacity() throws {
        try save(makeStore([makeCity("Pune", points: makePoints(0..<25))]), in: path)
        let smaller = makeStore(capacity: 3)
        let file = try open(path, smaller)
        #expect(smaller.indices(of: "Pune") == [22, 23, 24])
        smaller.receive("Pune", 25, at: 25)
        finish(file.file)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 3)
        #expect(try restored(path, capacity: 100).indices(of: "Pune") == [23, 24, 25])
    }
}

@Suite("another scale") struct ScaleTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test("keeps readings, finds categories anew, and is the file's after the first batch") func replaces() throws {
        let store = makeStore()
        for (second, index) in [40, 160, 161].enumerated() { store.receive("Pune", Double(index), at: second) }
        try save(store, in: path)
        let us = makeStore(scale: .us)
        let file = try open(path, us)
        #expect(us.cities[0].points.map(\.category) == [1, 4, 4])
        #expect(us.cities[0].category == 4 && us.cities[0].changes == CategoryChanges())
        finish(file.file)
        #expect(try integer("SELECT count(*) FROM setting WHERE value = 'us'", in: path) == 1)
        #expect(try restored(path, scale: .us).cities == us.cities)
    }

    @Test("until then the file stays as it is") func keeps() throws {
        let store = makeStore([makeCity("Pune", points: makePoints(0..<3))])
        try save(store, in: path)
        _ = try open(path, makeStore(scale: .us))
        #expect(try restored(path).cities == store.cities)
    }
}
