import AirQuality
import Bytes
import Foundation
import System
import TestSupport
import Testing

@testable import Storage

let testTime: Int64 = 1_795_236_585_252
/// When files are opened, later than the readings of most tests.
let openingTime = testTime + 10_000_000

/// 9999-12-31T23:59:59.999Z, the latest time that the file can hold.
let lastTime: Int64 = 253_402_300_799_999

/// A store that keeps every reading as a point.
func makeStore(
    _ cities: [City] = [], capacity: Int = 25, scale: Scale = .india, expireAfter: Int64 = 0
) -> ReadingStore {
    let store = ReadingStore(
        rules: StoreRules(
            scale: scale, history: HistoryRule(capacity: capacity, interval: 0), expireAfter: expireAfter),
        feeds: ["ws://feed.example/"], at: testTime)
    store.restore(cities, at: lastTime)
    return store
}

extension ReadingStore {
    /// Receives a message with a reading of each city.
    func receive(_ names: [String], _ aqi: Double, at second: Int, milliseconds: Int = 0) {
        var decoder = FeedDecoder(format: FeedFormat())
        let elements = names.map { #"{"city":"\#($0)","aqi":\#(aqi)}"# }.joined(separator: ",")
        let message = Array("[\(elements)]".utf8)
        let time = testTime + Int64(second) * 1000 + Int64(milliseconds)
        record(decoder.decode(message.span, receivedAt: time), feed: 0)
    }

    func receive(_ name: String, _ aqi: Double, at second: Int) { receive([name], aqi, at: second) }

    func indices(of name: String) -> [Double] {
        cities.first { $0.name == Array(name.utf8) }?.points.map(\.aqi) ?? []
    }
}

func makeCity(_ name: String, aqi: Double = 50.5, points: [HistoryPoint] = []) -> City {
    City(id: 0, name: Array(name.utf8), aqi: aqi, updatedAt: testTime - 1, receivedAt: testTime + 7, points: points)
}

/// Points a second apart, with their numbers as indices.
func makePoints(_ numbers: Range<Int>) -> [HistoryPoint] {
    numbers.map { HistoryPoint(time: testTime + Int64($0) * 1000, aqi: Double(abs($0) % 1000)) }
}

func open(_ path: String, _ store: ReadingStore) throws(SystemError) -> StorageFile {
    try StorageFile(path, store: store, now: { openingTime })
}

/// Writes the last batch and closes the file.
func finish(_ file: StorageFile) {
    file.stop()
    file.run { Issue.record("\($0)") }
}

/// Writes a store to a file and closes it.
func save(_ store: ReadingStore, in path: String) throws {
    let writer = try makeWriter(path, store)
    finish(writer)
}

/// Runs the writer's last pass and closes its file.
func finish(_ writer: consuming StorageWriter) {
    var writer = writer
    #expect(writer.pass(now: openingTime, isLast: true) == [])
    writer.finish()
}

/// A store with what a start restores. The file is left as after a kill.
func restored(_ path: String, capacity: Int = 25, scale: Scale = .india) throws -> ReadingStore {
    let store = makeStore(capacity: capacity, scale: scale)
    var writer = StorageWriter(path, store: store)
    let outcome = try writer.open(now: openingTime)
    if case .restored = outcome { return store }
    Issue.record("\(outcome)")
    return store
}

/// The reason why a start moved the file aside without using any of it.
func quarantineReason(of path: String) throws -> String {
    let store = makeStore()
    let outcome = try open(path, store).outcome
    #expect(store.cities.isEmpty)
    guard case .quarantined(_, let reason) = outcome else { return "\(outcome)" }
    return reason
}

/// Cities as they come back after a kill if nothing was written since their newest point: it is the current reading,
/// and the counters restart.
func killed(_ cities: [City]) -> [City] {
    cities.compactMap { city in
        guard let newest = city.points.last else { return nil }
        var city = city
        city.aqi = newest.aqi
        city.updatedAt = newest.time
        city.receivedAt = openingTime
        city.changes.better = 0
        city.changes.worse = 0
        return city
    }
}

/// A writer whose file is not closed properly when it is released, as if the process had died. Restores the cities that
/// the store does not know.
func makeWriter(_ path: String, _ store: ReadingStore) throws -> StorageWriter {
    var writer = StorageWriter(path, store: store)
    _ = try writer.open(now: openingTime)
    return writer
}

/// Releases a writer without closing its file.
func drop(_ writer: consuming StorageWriter) {}

/// Runs SQL on a file that is not open elsewhere.
func execute(_ sql: String, on path: String) throws {
    let readWriteCreate: Int32 = 6
    try SQLiteConnection(name: path, flags: readWriteCreate).execute(sql)
}

/// The number that an SQL query finds in a file that is not open elsewhere.
func integer(_ sql: String, in path: String) throws -> Int {
    let readWrite: Int32 = 2
    return try #require(Int(SQLiteConnection(name: path, flags: readWrite).text(sql)))
}

func contents(of path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [] }

func write(_ bytes: [UInt8], to path: String) { try! Data(bytes).write(to: URL(filePath: path)) }
