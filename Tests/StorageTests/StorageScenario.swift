import AirQuality
import Bytes
import Foundation
import System
import TestSupport
import Testing

@testable import Storage

let testTime: Int64 = 1_795_236_585_252
/// When files are opened: no time of the tests is in its future.
let openingTime = testTime + 10_000_000

/// 9999-12-31T23:59:59.999Z, the last that the file can have.
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
    /// Takes in a message with a reading of each city.
    func receive(_ names: [String], _ index: Double, at second: Int, milliseconds: Int = 0) {
        var decoder = FeedDecoder(format: FeedFormat())
        let elements = names.map { #"{"city":"\#($0)","aqi":\#(index)}"# }.joined(separator: ",")
        let message = Array("[\(elements)]".utf8)
        let time = testTime + Int64(second) * 1000 + Int64(milliseconds)
        record(decoder.decode(message.span, receivedAt: time), feed: 0)
    }

    func receive(_ name: String, _ index: Double, at second: Int) { receive([name], index, at: second) }

    func indices(of name: String) -> [Double] {
        cities.first { $0.name == Array(name.utf8) }?.points.map(\.index) ?? []
    }
}

func makeCity(_ name: String, index: Double = 50.5, points: [HistoryPoint] = []) -> City {
    City(id: 0, name: Array(name.utf8), index: index, updatedAt: testTime - 1, receivedAt: testTime + 7, points: points)
}

/// Points a second apart, the index counting with them.
func makePoints(_ numbers: Range<Int>) -> [HistoryPoint] {
    numbers.map { HistoryPoint(time: testTime + Int64($0) * 1000, index: Double(abs($0) % 1000), category: 1) }
}

func open(_ path: String, _ store: ReadingStore) throws(SystemError) -> StorageFile {
    try StorageFile(path, store: store, now: { openingTime })
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
    #expect(writer.pass(now: openingTime, isLast: true) == [])
    writer.finish()
}

/// A store with what a start finds. The file is left as after a kill.
func restored(_ path: String, capacity: Int = 25, scale: Scale = .india) throws -> ReadingStore {
    let store = makeStore(capacity: capacity, scale: scale)
    var writer = StorageWriter(path, store: store)
    let outcome = try writer.open(now: openingTime)
    if case .restored = outcome { return store }
    Issue.record("\(outcome)")
    return store
}

/// Why a start has moved the file aside, of which nothing is used.
func quarantineReason(of path: String) throws -> String {
    let store = makeStore()
    let outcome = try open(path, store).outcome
    #expect(store.cities.isEmpty)
    guard case .quarantined(_, let reason) = outcome else { return "\(outcome)" }
    return reason
}

/// Cities as they come back after a kill, if nothing was written since their newest point: that is the current reading,
/// and the counters begin anew.
func killed(_ cities: [City]) -> [City] {
    cities.compactMap { city in
        guard let newest = city.points.last else { return nil }
        var city = city
        city.index = newest.index
        city.updatedAt = newest.time
        city.receivedAt = openingTime
        return city.withoutCounts
    }
}

/// A writer whose file is not closed properly when it goes, as after the death of the process. The store is restored, as
/// far as it does not know the cities.
func makeWriter(_ path: String, _ store: ReadingStore) throws -> StorageWriter {
    var writer = StorageWriter(path, store: store)
    _ = try writer.open(now: openingTime)
    return writer
}

/// Gives up a writer without closing its file.
func drop(_ writer: consuming StorageWriter) {}

/// Runs SQL of its own on a file that nobody has open.
func execute(_ sql: String, on path: String) throws {
    let readWriteCreate: Int32 = 6
    try SQLiteConnection(name: path, flags: readWriteCreate).execute(sql)
}

/// A number that SQL finds in a file that nobody has open.
func integer(_ sql: String, in path: String) throws -> Int {
    let readWrite: Int32 = 2
    return try #require(Int(SQLiteConnection(name: path, flags: readWrite).text(sql)))
}

func contents(of path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [] }

func write(_ bytes: [UInt8], to path: String) { try! Data(bytes).write(to: URL(filePath: path)) }
