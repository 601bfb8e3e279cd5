import AirQuality
import Glibc
import System
import TestSupport
import Testing

@testable import Storage

/// Each step is one pass of the writer; no time passes. `EndToEnd/storage` has full, read-only and missing disks.
@Suite("the file or its disk fails while the exporter runs") struct LostDiskTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    /// A store with so many cities of 20 points.
    private func makeMemory(_ count: Int) -> ReadingStore {
        makeStore((0..<count).map { makeCity("city \($0)", points: makePoints(-20..<0)) })
    }

    @Test("removed: created again with all that is in memory, and nothing is lost by a kill", arguments: ["", "-wal"])
    func removed(suffix: String) throws {
        let store = makeMemory(3)
        var writer = try makeWriter(path, store)
        #expect(writer.pass(now: testTime).events == [])
        unsafe unlink(path + suffix)
        store.receive("new", 1, at: 0)
        let report = writer.pass(now: testTime)
        #expect(report.events == [.recreated] && report.error == nil)
        drop(writer)
        #expect(try restored(path).cities == store.cities)
    }

    @Test("replaced by an older copy: that one takes what is in memory, and keeps what else it has")
    func replacedByCopy() throws {
        let copy = directory.file("copy")
        try save(
            makeStore([makeCity("of old"), makeCity("city 1", index: 400, points: makePoints(-30 ..< -25))]), in: copy)
        let store = makeMemory(3)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        unsafe rename(copy, path)
        #expect(writer.pass(now: testTime).events == [.recreated])
        finish(writer)
        let again = try restored(path)
        #expect(again.cities.count == 4 && again.cities.last == makeCity("of old"))
        #expect(again.indices(of: "city 1") == [30, 29, 28, 27, 26] + (1...20).reversed().map(Double.init))
        #expect(again.cities[0] == store.cities[0] && again.cities[1].index == 50.5)
    }

    @Test("replaced by a loop of symbolic links, until that is gone") func replacedByLoop() throws {
        let store = makeMemory(3)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        unsafe unlink(path)
        unsafe symlink(path, path + ".next")
        unsafe symlink(path + ".next", path)
        #expect(writer.pass(now: testTime).events == [.failing(reason: "expected the name of a regular file")])
        unsafe unlink(path)
        #expect(writer.pass(now: testTime).events == [.recovered])
        finish(writer)
        #expect(try restored(path).cities == store.cities)
    }

    @Test(
        "replaced on a full disk: the other file does not get our journal",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func replacedOnFullDisk() throws {
        let disk = try #require(MountedDisk(kibibytes: 1024))
        let (path, other) = (disk.directory.file("storage.db"), disk.directory.file("other"))
        try execute("CREATE TABLE dashboard (id)", on: other)
        let bytes = contents(of: other)
        var writer = try makeWriter(path, makeMemory(200))
        _ = writer.pass(now: testTime)
        write([UInt8](repeating: 1, count: 1024 * 1024), to: disk.directory.file("filler"))
        unsafe rename(other, path)
        let reason = "it is a database of another program and is left as it is"
        #expect(writer.pass(now: testTime).events == [.failing(reason: reason)])
        #expect(contents(of: path) == bytes)
        #expect(disk.directory.names == ["filler", "storage.db"])
    }

    @Test("damaged under us: moved aside with its journal, created again; not twice in a minute")
    func damaged() throws {
        let store = makeMemory(20)
        var writer = try makeWriter(path, store)
        _ = writer.pass(now: testTime)
        let zeros = [UInt8](repeating: 0, count: 5000)
        for round in 0..<2 {
            // Another inode, so that the writer has to look at it anew.
            write(zeros, to: directory.file("bad"))
            unsafe rename(directory.file("bad"), path)
            store.receive("new", Double(round), at: round)
            let events = writer.pass(now: testTime).events
            if round == 0 {
                let target = path + ".damaged-20261121T044945Z"
                #expect(events == [.quarantined(movedTo: target, reason: "file is not a database")])
                #expect(contents(of: target) == zeros)
            } else {
                #expect(events == [.failing(reason: "it is damaged: file is not a database")])
            }
        }
        drop(writer)
    }

    @Test("a late disk with a history of its own keeps it, but for points of a clock that was ahead")
    func lateDisk() throws {
        let old = makeStore([
            makeCity("Agra", points: makePoints(-5..<0)),
            makeCity("Pune", points: makePoints(-5..<0) + makePoints(1_000_000..<1_000_005)),
        ])
        try save(old, in: path)
        let store = makeStore()
        var writer = StorageWriter(path, store: store, isFailing: true)
        for second in 7..<9 { store.receive("Pune", 300, at: second) }
        #expect(writer.pass(now: testTime).events == [.recovered])
        finish(writer)
        let again = try restored(path)
        #expect(again.cities[0] == old.cities[0])
        #expect(again.indices(of: "Pune") == [5, 4, 3, 2, 1, 300, 300])
    }

    @Test(
        "a read-only disk: restored, journal included, not written, caught up when it can be",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func readOnlyJournal() throws {
        let disk = try #require(MountedDisk(kibibytes: 4096))
        let path = disk.directory.file("storage.db")
        let old = makeMemory(3)
        var writer = try makeWriter(path, old)
        _ = writer.pass(now: testTime)
        drop(writer)
        #expect(disk.directory.names.count == 2)
        disk.setReadOnly(true)

        let store = makeStore()
        let file = try open(path, store)
        #expect(file.outcome == .failing(reason: "the file is read-only"))
        #expect(store.cities == old.cities)
        #expect(throws: SystemError.self) { try StorageFile.check(path) }
        disk.setReadOnly(false)
        store.receive("Pune", 1, at: 0)
        var events: [StorageEvent] = []
        file.file.stop()
        file.file.run { events.append($0) }
        #expect(events == [.recovered])
        #expect(try restored(path).cities == store.cities)
    }

    @Test("a damaged file on a read-only disk stays", .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func damagedReadOnly() throws {
        let disk = try #require(MountedDisk(kibibytes: 4096))
        write([UInt8](repeating: 0, count: 5000), to: disk.directory.file("storage.db"))
        disk.setReadOnly(true)
        let reason = "it is damaged (file is not a database) and cannot be renamed: Read-only file system"
        #expect(try open(disk.directory.file("storage.db"), makeStore()).outcome == .failing(reason: reason))
        #expect(disk.directory.names == ["storage.db"])
    }

    @Test("the journal is moved into the file before it grows beyond its limit") func journalIsBounded() throws {
        let (pageLimit, store) = (64, makeStore())
        var writer = StorageWriter(path, store: store, journalPageLimit: pageLimit)
        var largest = 0
        for second in 0..<200 {
            store.receive((0..<50).map { "city \($0)" }, Double(second), at: second)
            #expect(writer.pass(now: testTime).error == nil)
            largest = max(largest, contents(of: path + "-wal").count)
        }
        // A batch here is about 20 pages, each with a header of 24 bytes in the journal.
        #expect(largest > 0 && largest < (pageLimit + 100) * (512 + 24))
        finish(writer)
        #expect(try restored(path).cities == store.cities)
    }
}
