import AirQuality
import TestSupport
import Testing

@testable import Storage

@Suite("rows that make no sense") struct PlausibilityTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test(
        "are skipped and counted, with their city's readings, and are gone after the next batch",
        arguments: [
            "name = ''", "name = printf('%.129c', 'x')", "name = CAST(x'50FF' AS TEXT)",
            "name = CAST(x'EDA080' AS TEXT)",
            "category = 0", "category = 7", "category = 257", "direction = 2", "direction = -257", "changed_ms = -1",
            "changed_ms = 253402300800000", "better = -1", "worse = -9223372036854775808",
        ])
    func cities(assignment: String) throws {
        try expectSkipped(3, "UPDATE city SET \(assignment) WHERE name = 'Delhi'")
    }

    @Test(
        "so are numbers of cities from which one cannot count on",
        arguments: ["-9223372036854775808", "-9223372036854775807", "0", "9223372036854775807", "9223372036854775806"])
    func numbers(id: String) throws {
        try expectSkipped(3, "UPDATE reading SET city = \(id) WHERE city = 2; UPDATE city SET id = \(id) WHERE id = 2")
    }

    @Test(
        "a city without a reading that makes sense is none",
        arguments: [
            "time_ms = -time_ms", "time_ms = 253402300800000 + kept", "time_ms = 9223372036854775806 + kept",
            "time_ms = -9223372036854775808 + kept", "aqi = -0.5", "aqi = 9999.5", "aqi = 1e999",
            "received_ms = 9223372036854775807", "received_ms = -9223372036854775808",
        ])
    func readings(assignment: String) throws {
        try expectSkipped(3, "UPDATE reading SET \(assignment) WHERE city = 2")
    }

    private func expectSkipped(_ count: Int, _ sql: String) throws {
        let store = makeStore(["Agra", "Delhi", "Pune"].map { makeCity($0, points: makePoints(-1..<0)) })
        try save(store, in: path)
        try tamper(sql, in: path)
        let good = makeStore()
        let file = try open(path, good)
        #expect(file.outcome == .restored && file.skippedRows == count)
        #expect(good.cities == [store.cities[0], store.cities[2]])
        finish(file.file)
        let again = makeStore()
        #expect(try open(path, again).skippedRows == 0)
        #expect(again.cities == good.cities)
    }

    @Test("points are skipped by themselves") func points() throws {
        try save(makeStore([makeCity("Pune", points: makePoints(0..<3))]), in: path)
        try tamper("INSERT INTO reading VALUES (-1, 1, 1, NULL, 1), (2, 1, 10000, NULL, 1)", in: path)
        let store = makeStore()
        #expect(try open(path, store).skippedRows == 2)
        #expect(store.indices(of: "Pune") == [0, 1, 2])
    }

    @Test("readings of no city are removed without a word") func orphans() throws {
        try save(makeStore([makeCity("Pune", points: makePoints(0..<1))]), in: path)
        try tamper(
            "INSERT INTO reading VALUES (1, -5, 1, NULL, 1), (1, 0, 1, NULL, 1), (2, 99, 1, NULL, 0), (-3, 99, 1, NULL, 1)",
            in: path)
        let store = makeStore()
        let file = try open(path, store)
        #expect(file.skippedRows == 0 && store.indices(of: "Pune") == [0])
        finish(file.file)
        #expect(try integer("SELECT count(*) FROM reading", in: path) == 2)
    }

    @Test("what could not be restored is not written", arguments: [-1, City.times.upperBound + 1])
    func times(time: Int64) throws {
        var city = makeCity("Pune", points: makePoints(0..<2) + [HistoryPoint(time: time, index: 1, category: 1)])
        city.points.sort { $0.time < $1.time }
        let odd = City(id: 0, name: Array("odd".utf8), index: 1, updatedAt: time, receivedAt: time, category: 1)
        try save(makeStore([city, odd]), in: path)
        #expect(try restored(path).indices(of: "Pune") == [0, 1])
    }

    @Test("times of the future do not outlive a start") func future() throws {
        let far = openingTime + 86_400_000
        let city = City(
            id: 0, name: Array("Pune".utf8), index: 7, updatedAt: far, receivedAt: far, category: 1,
            changes: RestoringTests.changes(better: 0, worse: 1, at: far, direction: -1),
            points: [HistoryPoint(time: far, index: 7, category: 1)])
        try save(makeStore([city]), in: path)
        let store = ReadingStore(rules: StoreRules(expireAfter: 60_000), feeds: [""], at: openingTime)
        let file = try open(path, store)
        #expect(store.cities.map(\.updatedAt) == [openingTime])
        #expect(store.cities.map(\.receivedAt) == [openingTime])
        #expect(store.cities.map(\.changes.changedAt) == [openingTime])
        var decoder = FeedDecoder(format: FeedFormat(timeField: "time"))
        let message = Array(#"{"city":"Pune","aqi":8,"time":\#(openingTime + 1000)}"#.utf8)
        store.record(decoder.decode(message.span, receivedAt: openingTime + 1000), feed: 0)
        #expect(store.cities.map(\.index) == [8])
        #expect(store.cities[0].points.map(\.index) == [8])
        finish(file.file)
        let again = makeStore()
        #expect(try open(path, again).outcome == .restored)
        #expect(again.indices(of: "Pune") == [8])
        #expect(store.expire(at: openingTime + 61_001) == 1)
    }
}
