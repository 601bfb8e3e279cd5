import AirQuality
import Glibc
import System
import TestSupport
import Testing

@testable import Storage

/// Each step is one pass of the writer; no time passes. `EndToEnd/storage` tests full, read-only and missing disks.
@Suite struct `A storage file that fails while the exporter runs` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    /// A store with this many cities of 20 points each.
    private func makeMemory(_ count: Int) -> ReadingStore {
        makeStore((0..<count).map { makeCity("city \($0)", points: makePoints(-20..<0)) })
    }

    struct Loss: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isMovedAside = false
        var change: @Sendable (_ path: String) -> Void

        static let all = [
            Loss(testDescription: "removed") { unsafe unlink($0) },
            Loss(testDescription: "its journal removed") { unsafe unlink($0 + "-wal") },
            Loss(testDescription: "renamed") { unsafe rename($0, $0 + ".elsewhere") },
            Loss(testDescription: "emptied") { unsafe truncate($0, 0) },
            Loss(testDescription: "emptied with its journal") {
                unsafe truncate($0, 0)
                unsafe truncate($0 + "-wal", 0)
            },
            Loss(testDescription: "cut to a part of a page", isMovedAside: true) { unsafe truncate($0, 1000) },
            Loss(testDescription: "overwritten by zeros of its length", isMovedAside: true) { path in
                overwrite(path, with: [UInt8](repeating: 0, count: contents(of: path).count))
            },
            Loss(testDescription: "overwritten by a text", isMovedAside: true) { path in
                write(Array("a text".utf8), to: path)
            },
            Loss(testDescription: "overwritten in its middle", isMovedAside: true) { path in
                var bytes = contents(of: path)
                for place in 100..<bytes.count where place % 3 == 0 { bytes[place] ^= 0xFF }
                overwrite(path, with: bytes)
            },
        ]

        /// Writes into the existing file.
        private static func overwrite(_ path: String, with bytes: [UInt8]) {
            let file = unsafe fopen(path, "r+")!
            unsafe fwrite(bytes, 1, bytes.count, file)
            unsafe fclose(file)
        }
    }

    @Test(arguments: Loss.all, [false, true])
    func `A lost file is recreated with everything in memory`(_ loss: Loss, isIdle: Bool) throws {
        let store = makeMemory(200)
        var writer = try makeWriter(path, store)
        #expect(writer.pass(now: testTime) == [])
        store.receive((0..<200).map { "city \($0)" }, 3, at: 0)
        #expect(writer.pass(now: testTime) == [])
        loss.change(path)
        if !isIdle { store.receive("new", 1, at: 1) }
        let events = writer.pass(now: testTime)
        if loss.isMovedAside {
            guard events.count == 1, case .quarantined = events[0] else {
                Issue.record("\(events)")
                return
            }
        } else {
            #expect(events == [.recreated])
        }
        store.receive("city 7", 2, at: 2)
        #expect(writer.pass(now: testTime) == [])
        drop(writer)
        #expect(try restored(path).cities == killed(store.cities))
    }

    @Test func `An older copy of the file is merged with the cities and points in memory`() throws {
        let copy = directory.file("copy")
        try save(
            makeStore([makeCity("of old"), makeCity("city 1", aqi: 400, points: makePoints(-30 ..< -25))]), in: copy)
        let store = makeMemory(3)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        unsafe rename(copy, path)
        #expect(writer.pass(now: openingTime) == [.recreated])
        #expect(store.cities.last == makeCity("of old"))
        finish(writer)
        let again = try restored(path)
        #expect(again.cities.count == 4 && again.cities.last == makeCity("of old"))
        #expect(again.indices(of: "city 1") == [30, 29, 28, 27, 26] + (1...20).reversed().map(Double.init))
        #expect(again.cities[0] == store.cities[0] && again.cities[1].aqi == 50.5)
    }

    @Test func `A file that becomes damaged is moved aside, but not twice in a minute`() throws {
        let store = makeMemory(20)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        let zeros = [UInt8](repeating: 0, count: 5000)
        for round in 0..<2 {
            write(zeros, to: path)
            store.receive("new", Double(round), at: round)
            let events = writer.pass(now: testTime)
            let reason = "it is damaged: file is not a database"
            if round == 0 {
                let target = path + ".damaged-20261121T044945Z"
                #expect(events == [.quarantined(movedTo: target, reason: reason)])
                #expect(contents(of: target) == zeros)
            } else {
                #expect(events == [.failing(reason: reason)])
            }
        }
        drop(writer)
    }

    @Test func `A file that appears late keeps its history, except for points in the future`() throws {
        let old = makeStore([
            makeCity("Agra", points: makePoints(-5 ..< -1)), makeCity("Delhi", points: makePoints(-5..<0)),
            makeCity("Pune", points: makePoints(1_000_000..<1_000_005)),
        ])
        try save(old, in: path)
        let late = path + ".late"
        unsafe rename(path, late)
        unsafe mkdir(path, 0o755)
        let store = makeStore()
        var writer = StorageWriter(path, store: store)
        #expect(throws: StorageError.notAFile) { _ = try writer.open(now: testTime) }
        for second in 7..<9 { store.receive(["Delhi", "Pune"], 300, at: second) }
        #expect(writer.pass(now: testTime) == [])
        unsafe rmdir(path)
        unsafe rename(late, path)
        #expect(writer.pass(now: openingTime) == [.recovered])
        #expect(store.cities.first == old.cities[0])
        finish(writer)
        let again = try restored(path)
        #expect(again.cities[0] == old.cities[0])
        #expect(again.indices(of: "Delhi") == [5, 4, 3, 2, 1, 300, 300])
        #expect(again.indices(of: "Pune") == [300, 300])
    }

    @Test func `The journal stays below 8 MiB`() throws {
        let store = makeStore()
        var writer = try makeWriter(path, store)
        var largest = 0
        for second in 0..<600 {
            store.receive((0..<50).map { "city \($0)" }, Double(second % 500), at: second)
            #expect(writer.pass(now: testTime) == [])
            largest = max(largest, contents(of: path + "-wal").count)
        }
        #expect(largest > 0 && largest < 8 << 20)
        finish(writer)
        #expect(try restored(path).cities == store.cities)
    }
}
