import AirQuality
import Bytes
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct `Cities in the storage file` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    static let cities: [City] = [
        makeCity("Pune"), makeCity("a"), makeCity(String(repeating: "x", count: 128)), makeCity("दिल्ली 🌫️"),
        makeCity("O'Hare \"; DROP TABLE city; --"), makeCity("zero", aqi: 0), makeCity("fraction", aqi: 0.1 + 0.2),
        makeCity("most", aqi: 9999), makeCity("with points", points: makePoints(-25 ..< -1)),
        City(
            id: 0, name: Array("the newest point".utf8), aqi: 0, updatedAt: testTime, receivedAt: testTime + 7,
            points: makePoints(-3..<1)),
        makeCity("one point", points: [HistoryPoint(time: 0, aqi: 0)]),
        City(
            id: 0, name: Array("all fields".utf8), aqi: 152, updatedAt: 4, receivedAt: 2,
            changes: changes(better: 4, worse: UInt64(Int64.max), at: 3, direction: -1),
            feedLabel: Array("wss://feed.example/…/é".utf8),
            place: CityPlace(country: Array("India".utf8).span, latitude: -18.5, longitude: 180)),
        City(
            id: 0, name: Array("half a place".utf8), aqi: 1, updatedAt: 4, receivedAt: 2,
            place: CityPlace(country: [UInt8]().span, latitude: 0, longitude: nil)),
        City(
            id: 0, name: Array("epoch".utf8), aqi: 1, updatedAt: 0, receivedAt: 0,
            changes: changes(better: 0, worse: 0, at: 0, direction: 1)),
        City(id: 0, name: Array("a clock at the epoch".utf8), aqi: 1, updatedAt: 0, receivedAt: -3_600_000),
    ]

    static func changes(better: UInt64, worse: UInt64, at time: Int64, direction: Int8) -> CategoryChanges {
        var changes = CategoryChanges()
        changes.better = better
        changes.worse = worse
        changes.changedAt = time
        changes.direction = direction
        return changes
    }

    @Test func `All cities are restored from one file`() throws {
        let store = makeStore(Self.cities)
        #expect(store.cities.count == Self.cities.count)
        try save(store, in: path)
        #expect(directory.names == ["storage.db"], "a clean end leaves no journal")
        #expect(try restored(path).cities == store.cities)
    }

    @Test func `A feed and a place that a city gets later are there after a kill`() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        var decoder = FeedDecoder(format: FeedFormat())
        for place in [#"{"country":"IN"}"#, #"{"country":"IN","lat":18.5,"lon":73.9}"#] {
            let message = Array(#"{"city":"Pune","aqi":7,"place":\#(place)}"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: testTime), feed: 0)
            _ = writer.pass(now: testTime)
        }
        drop(writer)
        let city = try #require(restored(path).cities.first)
        #expect(city.feedLabel == Array("ws://feed.example/".utf8))
        #expect(city.place == CityPlace(country: Array("IN".utf8).span, latitude: 18.5, longitude: 73.9))
    }

    @Test func `The outcome and the statistics report the restored cities and the last write`() throws {
        let store = makeStore()
        let first = try open(path, store)
        #expect(first.outcome == .created)
        #expect(first.statistics == StorageStatistics())
        store.receive("Pune", 7, at: 0)
        finish(first)
        #expect(first.statistics == StorageStatistics(errorCount: 0, lastWriteAt: openingTime))
        let second = try open(path, makeStore())
        #expect(second.outcome == .restored(cities: 1, leftOut: 0))
        #expect(second.statistics == StorageStatistics())
    }

    @Test func `Of several points at one instant only the last is kept`() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        for aqi in [1, 2, 2, 3] as [Double] {
            store.receive("Pune", aqi, at: 0)
            _ = writer.pass(now: testTime)
        }
        drop(writer)
        #expect(try restored(path).indices(of: "Pune") == [3])
    }

    @Test(arguments: [false, true]) func `The points of an expired city are deleted`(isKilled: Bool) throws {
        let store = makeStore(expireAfter: 10_000)
        var writer = try makeWriter(path, store)
        store.receive(["Agra", "Pune"], 1, at: 0)
        store.receive("Delhi", 2, at: 9)
        _ = writer.pass(now: testTime)
        #expect(store.expire(at: testTime + 10_001) == 2)
        _ = writer.pass(now: testTime)
        store.receive("Pune", 3, at: 11)
        _ = writer.pass(now: testTime)
        if isKilled {
            drop(writer)
            #expect(try restored(path).cities.map(\.points) == store.cities.map(\.points))
            finish(try open(path, makeStore()))
        } else {
            finish(writer)
            #expect(try restored(path).cities == store.cities)
        }
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 2)
    }

    @Test func `A city that returns after its expiry does not get its old points back`() throws {
        let store = makeStore(expireAfter: 10_000)
        var writer = try makeWriter(path, store)
        for second in 0...2 { store.receive("Pune", Double(second), at: second) }
        _ = writer.pass(now: testTime)
        #expect(store.expire(at: testTime + 20_000) == 1)
        store.receive("Pune", 9, at: 30)
        _ = writer.pass(now: testTime)
        drop(writer)
        #expect(try restored(path).indices(of: "Pune") == [9])
    }

    @Test func `The direction of the last change follows a correction of the newest reading`() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        var decoder = FeedDecoder(format: FeedFormat(timeField: "t"))
        for (aqi, second) in [(40, 0), (90, 1), (30, 1)] as [(Int, Int64)] {
            let time = testTime + second * 1000
            let message = Array(#"[{"city":"Pune","aqi":\#(aqi),"t":\#(time)}]"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: time), feed: 0)
            _ = writer.pass(now: testTime)
        }
        drop(writer)
        #expect(try restored(path).cities.map(\.changes.direction) == [1])
    }

    @Test(arguments: HistoryRule.Keep.allCases)
    func `A recently updated city does not expire after a kill, however far apart its points are`(
        _ keep: HistoryRule.Keep
    ) throws {
        func makeStore() -> ReadingStore {
            let rule = HistoryRule(interval: 100_000, keep: keep)
            return ReadingStore(
                rules: StoreRules(history: rule, expireAfter: 10_000), feeds: ["ws://feed.example/"], at: testTime)
        }
        let store = makeStore()
        var writer = try makeWriter(path, store)
        let window = (testTime / 100_000 + 1) * 100 - testTime / 1000
        for second in stride(from: window, through: window + 195, by: 5) {
            store.receive("Pune", 1, at: Int(second))
            store.closeWindows(at: testTime + second * 1000)
        }
        _ = writer.pass(now: testTime)
        drop(writer)
        let after = makeStore()
        _ = try open(path, after)
        #expect(after.expire(at: testTime + (window + 200) * 1000) == 0)
        #expect(after.cities.map(\.points) == store.cities.map(\.points))
        // An unknown arrival becomes the time of the start.
        #expect(after.expire(at: openingTime + 10_000) == 0)
        #expect(after.expire(at: openingTime + 10_001) == 1)
    }

    @Test func `The current reading is written at the end, and before that only points`() throws {
        let store = ReadingStore(rules: StoreRules(), feeds: [""], at: testTime)
        var writer = try makeWriter(path, store)
        for second in 0..<70 {
            store.receive("Pune", Double(second) / 10, at: second)
            _ = writer.pass(now: testTime + Int64(second) * 1000)
        }
        // Points: 0, 1, 31 and 61.
        #expect(writer.statistics.lastWriteAt == testTime + 61_000)
        finish(writer)
        #expect(try restored(path).cities == store.cities)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 4)
    }

    @Test func `The current reading of a clean end survives a later kill, unless a point is newer`() throws {
        let rules = StoreRules(history: HistoryRule(interval: 30_000))
        func makeStore() -> ReadingStore { ReadingStore(rules: rules, feeds: [""], at: testTime) }
        func restart(_ receive: (ReadingStore) -> Void) throws -> City {
            let store = makeStore()
            var writer = try makeWriter(path, store)
            receive(store)
            _ = writer.pass(now: openingTime)
            drop(writer)
            return try #require(restored(path).cities.first { $0.name == Array("Pune".utf8) })
        }
        let first = makeStore()
        let writer = try makeWriter(path, first)
        for (second, aqi) in [40, 45, 200.0].enumerated() { first.receive("Pune", aqi, at: second) }
        finish(writer)
        for message in [nil, ("Delhi", 1, 4), ("Pune", 90, 5)] as [(String, Double, Int)?] {
            let pune = try restart { store in message.map { store.receive($0.0, $0.1, at: $0.2) } }
            #expect(pune.aqi == 200 && pune.updatedAt == testTime + 2000)
            #expect(message == nil || pune.receivedAt == openingTime && pune.changes.worse == 0)
        }
        #expect(try restart { $0.receive("Pune", 80, at: 40) }.aqi == 80)
    }

    @Test func `A city has no direction after a kill that lost the reading with its last change`() throws {
        let store = ReadingStore(
            rules: StoreRules(history: HistoryRule(interval: 30_000)), feeds: [""], at: testTime)
        var writer = try makeWriter(path, store)
        for (second, aqi) in [48, 49, 200.0].enumerated() { store.receive("Pune", aqi, at: second) }
        _ = writer.pass(now: testTime)
        #expect(store.cities[0].changes.direction == -1)
        drop(writer)
        let city = try restored(path).cities[0]
        #expect(city.aqi == 49 && city.changes == CategoryChanges())
    }

    /// A point that arrives while a batch is written is not in it, and could be lost though it is older than the write.
    @Test func `The time of the last write is the time at which its pass began`() throws {
        let clock = Mutex(openingTime)
        let store = makeStore()
        let file = try StorageFile(path, store: store) {
            clock.withLock { time in
                time += 1000
                return time
            }
        }
        store.receive("Pune", 7, at: 0)
        finish(file)
        #expect(file.statistics.lastWriteAt == clock.withLock(\.self))
    }

    @Test func `Readings of the future get the time of the start, changes keep theirs`() throws {
        let far = openingTime + 86_400_000
        let city = City(
            id: 0, name: Array("Pune".utf8), aqi: 7, updatedAt: far, receivedAt: far,
            changes: Self.changes(better: 0, worse: 1, at: far, direction: -1),
            points: [HistoryPoint(time: far, aqi: 7)])
        try save(makeStore([city]), in: path)
        let store = ReadingStore(rules: StoreRules(expireAfter: 60_000), feeds: [""], at: openingTime)
        let file = try open(path, store)
        #expect(store.cities.map(\.updatedAt) == [openingTime])
        #expect(store.cities.map(\.receivedAt) == [openingTime])
        #expect(store.cities.map(\.changes.changedAt) == [far])
        store.receive("Pune", 8, at: Int(openingTime - testTime) / 1000 + 1)
        #expect(store.cities[0].points.map(\.aqi) == [8])
        finish(file)
        #expect(try restored(path).indices(of: "Pune") == [8])
    }

    @Test(arguments: [":memory:", "file:a.db", "a?b=c %41#.db"])
    func `A file name is taken literally, whatever it means to SQLite`(name: String) throws {
        // After two slashes, a URI would have a host.
        try save(makeStore([makeCity("Pune")]), in: "/" + directory.file(name))
        #expect(directory.names == [name])
        #expect(try restored(directory.file(name)).cities == [makeCity("Pune")])
    }
}

@Suite struct `History in the storage file` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test(arguments: [1, 2, 25, 1000]) func `The file keeps as many points of a city as memory`(capacity: Int) throws {
        let store = makeStore(capacity: capacity)
        var writer = try makeWriter(path, store)
        for second in 0..<capacity + 7 {
            store.receive("one", Double(second), at: second)
            _ = writer.pass(now: testTime)
        }
        for second in 0..<capacity + 7 { store.receive("many", Double(second), at: second) }
        finish(writer)
        #expect(try restored(path, capacity: capacity).cities == store.cities)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 2 * capacity)
    }

    @Test func `The history in the file adapts to a changed capacity`() throws {
        try save(makeStore([makeCity("Pune", points: makePoints(0..<25))]), in: path)
        let smaller = makeStore(capacity: 3)
        let file = try open(path, smaller)
        #expect(smaller.indices(of: "Pune") == [22, 23, 24])
        smaller.receive("Pune", 25, at: 25)
        finish(file)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 3)
        #expect(try restored(path, capacity: 100).indices(of: "Pune") == [23, 24, 25])
    }

    @Test func `Under another scale, categories are computed again and change counts restart`() throws {
        let store = makeStore()
        for (second, aqi) in [40, 160, 161].enumerated() { store.receive("Pune", Double(aqi), at: second) }
        try save(store, in: path)
        let us = makeStore(scale: .us)
        let file = try open(path, us)
        #expect(us.snapshot().states[0].category == 4)
        #expect(us.cities[0].changes == CategoryChanges())
        finish(file)
        #expect(try restored(path, scale: .us).cities == us.cities)
    }
}
