import Glibc
import TestSupport
import Testing

@testable import Storage

/// Each step is one pass of the writer; no time passes.
@Suite("the file or its disk fails while the exporter runs")
struct LostDiskTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }
    var configuration: StorageConfiguration { makeConfiguration(path) }

    /// The memory of an exporter: a city for each version.
    struct Memory {
        var version: UInt64 = 0
        var asked: [UInt64] = []

        func cities(after since: UInt64) -> [StoredCity] {
            since >= version
                ? [] : (since + 1...version).map { makeCity("city \($0)", points: makePoints(0..<20)) }
        }

        mutating func changes(_ since: UInt64) -> StorageBatch {
            asked.append(since)
            return StorageBatch(version: version, cities: cities(after: since))
        }
    }

    @Test("removed: created again with all that is in memory", arguments: [false, true])
    func removedFile(withJournal: Bool) throws {
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [])
        unsafe unlink(path)
        if withJournal { unsafe unlink(path + "-wal") }
        memory.version = 4
        let report = writer.pass(now: testTime) { memory.changes($0) }
        #expect(report.events == [.recreated])
        #expect(report.error == nil)
        #expect(memory.asked == [0, 0])
        writer.finish()
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("its journal removed: nothing is lost, not even by a kill right after")
    func removedJournal() throws {
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        unsafe unlink(path + "-wal")
        memory.version = 4
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recreated])
        drop(writer)
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("renamed: the file takes along what it had, a new one is created")
    func renamedFile() throws {
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        unsafe rename(path, path + ".old")
        memory.version = 4
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recreated])
        writer.finish()
        #expect(try restoredCities(makeConfiguration(path + ".old")) == Memory(version: 3).cities(after: 0))
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("replaced by an older copy: that one takes what is in memory, and keeps what else it has")
    func replacedFile() throws {
        let copy = makeConfiguration(directory.file("copy"))
        try store([makeCity("of old"), makeCity("city 1", index: 400)], in: copy)
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        unsafe rename(copy.path, path)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recreated])
        writer.finish()
        #expect(
            try Set(restoredCities(configuration).map(\.name))
                == Set([makeCity("of old").name] + memory.cities(after: 0).map(\.name)))
        #expect(
            try restoredCities(configuration).first { $0.name == Array("city 1".utf8) } == memory.cities(after: 0)[0])
    }

    @Test("replaced by another program's database: that one is left alone, until it is gone")
    func replacedByForeign() throws {
        let other = directory.file("other")
        try execute("CREATE TABLE dashboard (id)", on: other)
        let bytes = contents(of: other)
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        unsafe rename(other, path)
        let reason = "it is a database of another program and is left as it is"
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.failing(reason: reason)])
        #expect(contents(of: path) == bytes)
        unsafe unlink(path)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recovered])
        writer.finish()
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test(
        "replaced on a full disk: the other file does not get our journal",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func replacedOnFullDisk() throws {
        let disk = try #require(MountedDisk(kibibytes: 1024))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        let other = disk.directory.file("other")
        try execute("CREATE TABLE dashboard (id)", on: other)
        let bytes = contents(of: other)
        var memory = Memory(version: 200)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        write([UInt8](repeating: 1, count: 1024 * 1024), to: disk.directory.file("filler"))
        unsafe rename(other, configuration.path)
        let reason = "it is a database of another program and is left as it is"
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.failing(reason: reason)])
        #expect(contents(of: configuration.path) == bytes)
        #expect(disk.directory.names == ["filler", "storage.db"])
    }

    @Test("damaged under us: moved aside with its journal, created again; not twice in a minute")
    func damaged() throws {
        var memory = Memory(version: 200)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        for round in 0..<2 {
            // Another inode, so that the writer has to look at it anew.
            write(Array("no database".utf8), to: directory.file("bad"))
            unsafe rename(directory.file("bad"), path)
            memory.version += 1
            let events = writer.pass(now: testTime) { memory.changes($0) }.events
            if round == 0 {
                let target = path + ".damaged-20261121T044945Z"
                #expect(events == [.quarantined(movedTo: target, reason: "file is not a database")])
                #expect(contents(of: target) == Array("no database".utf8))
            } else {
                #expect(events == [.failing(reason: "it is damaged: file is not a database")])
            }
        }
        drop(writer)
    }

    @Test("the directory goes and comes back: told once each way, and nothing is missing")
    func directoryGoes() throws {
        let configuration = makeConfiguration(directory.file("sub/storage.db"))
        unsafe mkdir(directory.file("sub"), 0o755)
        var memory = Memory(version: 1)
        var writer = try makeWriter(configuration)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.hasWritten)
        unsafe rename(directory.file("sub"), directory.file("elsewhere"))
        var reports: [StorageWriter.Report] = []
        for _ in 0..<5 {
            memory.version += 1
            reports.append(writer.pass(now: testTime) { memory.changes($0) })
        }
        let reason = "unable to open database file: No such file or directory"
        #expect(reports.map(\.error) == Array(repeating: reason, count: 5))
        #expect(reports.flatMap(\.events) == [.failing(reason: reason)])
        #expect(memory.asked == [0], "what cannot be written is not asked for")
        unsafe rename(directory.file("elsewhere"), directory.file("sub"))
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recovered])
        writer.finish()
        #expect(try restoredCities(configuration).count == 6)
    }

    @Test("missing at the start: told as unavailable, caught up later")
    func missingAtStart() throws {
        let configuration = makeConfiguration(directory.file("sub/storage.db"))
        let restored = try open(configuration)
        #expect(restored.outcome == .unavailable(reason: "unable to open database file: No such file or directory"))
        #expect(restored.file.statistics.errorCount == 1)
        var memory = Memory(version: 2)
        var events: [StorageEvent] = []
        unsafe mkdir(directory.file("sub"), 0o755)
        restored.file.stop()
        restored.file.run(since: 2, changes: { memory.changes($0) }, onEvent: { events.append($0) })
        #expect(events == [.recovered])
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("a late disk with a history of its own keeps it")
    func lateDisk() throws {
        let old = makeCity("Agra", points: makePoints(0..<5))
        try store([old, makeCity("Pune", points: makePoints(0..<5))], in: configuration)
        unsafe rename(path, path + ".away")
        unsafe mkdir(path, 0o755)
        var writer = StorageWriter(configuration, database: nil, replacesAll: false)
        let new = makeCity("Pune", index: 300, points: makePoints(7..<8))
        #expect(
            writer.pass(now: testTime) { _ in StorageBatch(version: 1) }.error == "expected the name of a regular file")
        unsafe rmdir(path)
        unsafe rename(path + ".away", path)
        #expect(writer.pass(now: testTime) { _ in StorageBatch(version: 1, cities: [new]) }.events == [.recovered])
        writer.finish()
        var both = new
        both.points = makePoints(0..<5) + makePoints(7..<8)
        #expect(try restoredCities(configuration) == [old, both])
    }

    @Test("that comes late with points of a clock that was ahead: newer real ones do not give way to them")
    func lateDiskOfTheFuture() throws {
        try store([makeCity("Agra", points: makePoints(0..<1) + makePoints(1_000_000..<1_000_024))], in: configuration)
        var writer = StorageWriter(configuration, database: nil, replacesAll: false)
        let new = makeCity("Agra", points: makePoints(5..<7))
        #expect(writer.pass(now: testTime) { _ in StorageBatch(version: 1, cities: [new]) }.events == [.recovered])
        drop(writer)
        #expect(try restoredCities(configuration).first?.points == makePoints(0..<1) + makePoints(5..<7))
    }

    @Test(
        "full: told once, nothing is forgotten, and it catches up", .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func fullDisk() throws {
        let disk = try #require(MountedDisk(kibibytes: 256))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        var memory = Memory(version: 1)
        var writer = try makeWriter(configuration)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [])
        var events: [StorageEvent] = []
        var errorCount = 0
        for _ in 0..<20 {
            memory.version += 200
            let report = writer.pass(now: testTime) { memory.changes($0) }
            events += report.events
            if report.error != nil { errorCount += 1 }
        }
        #expect(events == [.failing(reason: "database or disk is full")])
        #expect(errorCount > 10)
        #expect(Set(memory.asked.suffix(errorCount)).count == 1, "asked from the same version again and again")
        disk.resize(kibibytes: 16 * 1024)
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recovered])
        #expect(memory.asked.last != 0, "what was written before need not be written again")
        writer.finish()
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("full at the start", .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func fullAtStart() throws {
        let disk = try #require(MountedDisk(kibibytes: 64))
        let filler = disk.directory.file("filler")
        write([UInt8](repeating: 1, count: 64 * 1024), to: filler)
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        let restored = try open(configuration)
        guard case .unavailable = restored.outcome else {
            Issue.record("\(restored.outcome)")
            return
        }
        unsafe unlink(filler)
        var events: [StorageEvent] = []
        restored.file.stop()
        restored.file.run(
            since: 0, changes: { _ in StorageBatch(version: 1, cities: [makeCity("Pune")]) },
            onEvent: { events.append($0) })
        #expect(events == [.recovered])
        #expect(try restoredCities(configuration) == [makeCity("Pune")])
    }

    @Test(
        "full at the start, with a file: restored, and kept in memory",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func fullWithFile() throws {
        let disk = try #require(MountedDisk(kibibytes: 1024))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        var memory = Memory(version: 300)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        drop(writer)
        let filler = disk.directory.file("filler")
        write([UInt8](repeating: 1, count: 1024 * 1024), to: filler)
        let restored = try open(configuration)
        #expect(restored.outcome == .restored)
        #expect(restored.cities == memory.cities(after: 0))
        memory.version = 600
        var events: [StorageEvent] = []
        restored.file.run(
            since: 300,
            changes: { memory.changes($0) },
            onEvent: { event in
                events.append(event)
                if event == .recovered { restored.file.stop() } else { unsafe unlink(filler) }
            })
        #expect(events == [.failing(reason: "database or disk is full"), .recovered])
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("unmounted: created again where the name leads now", .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func unmounted() throws {
        let disk = try #require(MountedDisk(kibibytes: 4096))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        disk.unmount()
        #expect(writer.pass(now: testTime) { memory.changes($0) }.events == [.recreated])
        writer.finish()
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test(
        "a read-only disk: restored, journal included, not written, caught up when it can be",
        .enabled(if: MountedDisk.isAllowed, "needs mount"), arguments: [false, true])
    func readOnly(hasJournal: Bool) throws {
        let disk = try #require(MountedDisk(kibibytes: 4096))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        var memory = Memory(version: 3)
        var writer = try makeWriter(configuration)
        _ = writer.pass(now: testTime) { memory.changes($0) }
        if hasJournal { drop(writer) } else { writer.finish() }
        #expect(disk.directory.names.count == (hasJournal ? 2 : 1))
        disk.setReadOnly(true)

        let restored = try open(configuration)
        #expect(restored.outcome == .unavailable(reason: "the file is read-only"))
        #expect(restored.cities == memory.cities(after: 0))
        #expect(restored.scale == "india")
        disk.setReadOnly(false)
        memory.version = 4
        var events: [StorageEvent] = []
        restored.file.stop()
        restored.file.run(since: 3, changes: { memory.changes($0) }, onEvent: { events.append($0) })
        #expect(events == [.recovered])
        #expect(memory.asked.last == 0)
        #expect(try restoredCities(configuration) == memory.cities(after: 0))
    }

    @Test("a damaged file on a read-only disk stays", .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func damagedReadOnly() throws {
        let disk = try #require(MountedDisk(kibibytes: 4096))
        let configuration = makeConfiguration(disk.directory.file("storage.db"))
        write(Array("no database".utf8), to: configuration.path)
        disk.setReadOnly(true)
        guard case .unavailable(let reason) = try open(configuration).outcome else {
            Issue.record("it was used")
            return
        }
        #expect(reason == "it is damaged (file is not a database) and cannot be renamed: Read-only file system")
        #expect(disk.directory.names == ["storage.db"])
    }

    @Test("without the right to write", .enabled(if: getuid() != 0, "root may write everywhere"))
    func withoutRights() throws {
        try store([makeCity("Pune")], in: configuration)
        unsafe chmod(path, 0o444)
        let restored = try open(configuration)
        #expect(restored.outcome == .unavailable(reason: "the file is read-only"))
        #expect(restored.cities == [makeCity("Pune")])
    }

    @Test("the journal is moved into the file before it grows beyond its limit")
    func journalIsBounded() throws {
        let pageLimit = 64
        let database = try StorageDatabase.open(configuration)
        var writer = StorageWriter(configuration, database: database, replacesAll: false, journalPageLimit: pageLimit)
        var largest = 0
        for round in 0..<200 {
            let cities = (0..<50).map { makeCity("city \($0)", points: makePoints(round..<round + 1)) }
            let report = writer.pass(now: testTime) { _ in StorageBatch(version: UInt64(round), cities: cities) }
            #expect(report.error == nil)
            largest = max(largest, contents(of: path + "-wal").count)
        }
        // A batch here is about 60 pages, each with a header of 24 bytes in the journal.
        #expect(largest > 0 && largest < (pageLimit + 100) * (1024 + 24))
        writer.finish()
        #expect(try restoredCities(configuration).count == 50)
    }
}
