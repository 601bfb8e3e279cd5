import AirQuality
import Bytes
import System
import Testing

@testable import Storage

let testTime: Int64 = 1_795_236_585_252
/// When files are opened: no time of the tests is in its future.
let openingTime = testTime + 10_000_000

/// A store that keeps every reading as a point.
func makeStore(
    _ cities: [City] = [], capacity: Int = 25, scale: Scale = .india, expireAfter: Int64 = 0
) -> ReadingStore {
    let store = ReadingStore(
        rules: StoreRules(
            scale: scale, history: HistoryRule(capacity: capacity, interval: 0), expireAfter: expireAfter),
        feeds: ["ws://feed.example/"], at: testTime)
    store.restore(cities, at: City.times.upperBound)
    return store
}

extension ReadingStore {
    /// Takes in a message with a reading of each city.
    func receive(_ names: [String], _ index: Double, at second: Int) {
        var decoder = FeedDecoder(format: FeedFormat())
        let elements = names.map { #"{"city":"\#($0)","aqi":\#(index)}"# }.joined(separator: ",")
        let message = Array("[\(elements)]".utf8)
        record(decoder.decode(message.span, receivedAt: testTime + Int64(second) * 1000), feed: 0)
    }

    func receive(_ name: String, _ index: Double, at second: Int) { receive([name], index, at: second) }

    /// Sorted by name.
    var cities: [City] { snapshot(withHistories: true).storedCities }

    func indices(of name: String) -> [Double] {
        cities.first { $0.name == Array(name.utf8) }?.points.map(\.index) ?? []
    }
}

func makeCity(_ name: String, index: Double = 50.5, points: [HistoryPoint] = []) -> City {
    City(
        id: 0, name: Array(name.utf8), index: index, updatedAt: testTime - 1, receivedAt: testTime + 7, category: 1,
        points: points)
}

/// Points a second apart, the index counting with them.
func makePoints(_ numbers: Range<Int>) -> [HistoryPoint] {
    numbers.map { HistoryPoint(time: testTime + Int64($0) * 1000, index: Double(abs($0) % 1000), category: 1) }
}

func open(_ path: String, _ store: ReadingStore) throws(SystemError) -> RestoredStorage {
    try StorageFile.open(path, store: store, interval: .milliseconds(1), now: { openingTime })
}

/// Writes the last batch and closes the file.
func finish(_ file: StorageFile) {
    file.stop()
    file.run { Issue.record("\($0)") }
}

/// A file with what a store has, closed.
func save(_ store: ReadingStore, in path: String) throws {
    let writer = try makeWriter(path, store)
    finish(writer)
}

/// The writer's last pass, and the end.
func finish(_ writer: consuming StorageWriter) {
    var writer = writer
    let report = writer.pass(now: openingTime, isLast: true)
    #expect(report.error == nil)
    writer.finish()
}

/// What a start finds. The file is left as after a kill.
func restored(_ path: String, capacity: Int = 25, scale: Scale = .india) throws -> ReadingStore {
    let store = makeStore(capacity: capacity, scale: scale)
    #expect(try open(path, store).outcome == .restored)
    return store
}

/// As it comes back after anything but a proper end.
func withoutCounters(_ cities: [City]) -> [City] {
    cities.map { city in
        var city = city
        (city.changes.better, city.changes.worse) = (0, 0)
        return city
    }
}

/// A writer whose file is not closed properly when it goes, as after the death of the process. The store is
/// restored, as far as it does not know the cities.
func makeWriter(_ path: String, _ store: ReadingStore) throws -> StorageWriter {
    var writer = StorageWriter(path, store: store)
    let opened = try OpenedStorage.open(path, rules: store.rules, now: openingTime)
    store.restore(opened.content.cities, at: openingTime)
    writer.take(opened, isStart: true)
    return writer
}

/// Gives up a writer without closing its file.
func drop(_ writer: consuming StorageWriter) {}

/// Runs SQL of its own on a file that nobody has open.
func execute(_ sql: String, on path: String) throws {
    let readWriteCreate: Int32 = 6
    try SQLiteConnection(name: path, flags: readWriteCreate).execute(sql)
}

/// Changes rows of a file that was closed, without a word about its checksum.
func tamper(_ sql: String, in path: String) throws {
    try execute("DELETE FROM setting WHERE name = 'closed'; " + sql, on: path)
}

func integer(_ sql: String, in path: String) throws -> Int64 {
    let readWrite: Int32 = 2
    return try SQLiteConnection(name: path, flags: readWrite).integer(sql)
}
