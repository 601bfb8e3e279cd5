import Glibc
import TestSupport
import Testing

@testable import Storage

/// What an exporter's memory holds at a version, so that a file can be compared with it. Every version changes every
/// city and adds a point to each.
private struct Model {
    static let cityCount = 30
    static let capacity = 25

    static func cities(at version: UInt64, pointsSince since: UInt64) -> [StoredCity] {
        (0..<cityCount).map { number in
            StoredCity(
                name: Array("city \(number)".utf8), index: index(number, version), updatedAt: time(version),
                receivedAt: time(version), category: 1 + UInt8(version % 6), direction: version % 2 == 0 ? 1 : -1,
                changedAt: time(version),
                points: (max(since + 1, version > 25 ? version - 24 : 1)..<version + 1).map {
                    StoredPoint(time: time($0), index: index(number, $0))
                })
        }
    }

    /// 0 for none.
    static func version(of cities: [StoredCity]) -> UInt64 {
        cities.first.map { UInt64($0.updatedAt - testTime) / 1000 } ?? 0
    }

    private static func time(_ version: UInt64) -> Int64 { testTime + Int64(version) * 1000 }

    private static func index(_ number: Int, _ version: UInt64) -> Double {
        Double((UInt64(number) * 7919 + version * 31) % 99990) / 10
    }
}

@Suite("kill -9")
struct KilledProcessTests {
    let directory = TemporaryDirectory()

    /// Each round is a process of its own that goes on from what it finds and is killed at a moment of its own, while it
    /// opens the file, writes or moves the journal. Before it asks for the changes since a version, it notes that
    /// version: it must be there afterwards, whole. `STORAGE_KILL_COUNT` sets how often.
    @Test("at any moment: all that was written is there, whole and once, and the file is sound")
    func atAnyMoment() async throws {
        let count = unsafe getenv("STORAGE_KILL_COUNT").flatMap { unsafe Int(String(cString: $0)) } ?? 20
        var random = SeededRandom(seed: 7)
        let path = directory.file("storage.db")
        let notes = directory.file("notes")
        var version: UInt64 = 0
        var transactionCount: UInt64 = 0
        for round in 0..<count {
            if round % 5 == 4 {
                // Beginning a file is something to be killed in as well.
                for name in [path, path + "-wal", notes] { unsafe unlink(name) }
                version = 0
            }
            let microseconds = UInt32.random(in: 0..<40_000, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, notes = notes as String, microseconds = microseconds as UInt32] in
                try runUntilKilled(path: path, notes: notes, after: microseconds)
            }
            let noted = lastNote(in: notes) ?? version
            // A copy, so that every start is the child's and finds the file as the kill left it.
            let copy = directory.file("copy.db")
            write(contents(of: path), to: copy)
            write(contents(of: path + "-wal"), to: copy + "-wal")
            let restored = try open(makeConfiguration(copy, capacity: Model.capacity))
            let found = Model.version(of: restored.cities)
            #expect(restored.outcome == (found == 0 ? restored.outcome : .restored), "round \(round)")
            #expect(found >= noted, "round \(round)")
            #expect(restored.cities == (found == 0 ? [] : Model.cities(at: found, pointsSince: 0)), "round \(round)")
            transactionCount += found - version
            version = found
        }
        // How many there are is a matter of the machine.
        #expect(transactionCount > 0, "some processes lived long enough to write")
        #expect(!directory.names.contains { $0.contains("damaged") })
        print("\(count) kills, \(transactionCount) transactions, nothing lost")
    }

    @Test("the second process is refused while the first lives, and not after it was killed")
    func secondProcess() async throws {
        let path = directory.file("storage.db")
        let first = try open(makeConfiguration(path))
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            do throws(StorageError) {
                _ = try open(makeConfiguration(path))
            } catch {
                exit(error.code == .inUse ? 42 : 1)
            }
        }
        first.file.stop()
        first.file.run(
            since: 0, changes: { _ in StorageBatch(version: 1, cities: [makeCity("Pune")]) }, onEvent: { _ in })

        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let restored = try open(makeConfiguration(path))
            kill(getpid(), SIGKILL)
            _ = restored
        }
        #expect(try restoredCities(makeConfiguration(path)) == [makeCity("Pune")])
    }

    @Test("counters begin anew, because those that were seen last may not have been written")
    func counters() async throws {
        let configuration = makeConfiguration(directory.file("storage.db"))
        var city = makeCity("Pune", points: makePoints(0..<3))
        (city.better, city.worse) = (7, 8)
        try store([city], in: configuration)
        #expect(try open(configuration).cities == [city], "after a proper end")
        // That was a start without a proper end.
        #expect(try restoredCities(configuration) == [withoutCounters(city)])
        #expect(try integer("SELECT sum(better + worse) FROM city", in: configuration.path) == 0)
        (city.better, city.worse) = (1, 2)
        try store([city], in: configuration)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = configuration.path as String] in
            let restored = try open(makeConfiguration(path))
            restored.file.run(
                since: 0,
                changes: { _ in
                    kill(getpid(), SIGKILL)
                    return StorageBatch(version: 1)
                }, onEvent: { _ in })
        }
        #expect(try restoredCities(configuration) == [withoutCounters(city)])
    }

    @Test("two openers in one process: the second is refused as well, until the first has closed")
    func secondOpener() throws {
        let configuration = makeConfiguration(directory.file("storage.db"))
        let first = try open(configuration).file
        let refusal = StorageError(
            .inUse, "storage file \"\(configuration.path)\": another process has it open")
        #expect(throws: refusal) { _ = try open(configuration) }
        first.stop()
        first.run(
            since: 0,
            changes: {
                #expect(throws: refusal) { _ = try open(configuration) }
                return StorageBatch(version: $0 + 1, cities: [makeCity("Pune")])
            }, onEvent: { Issue.record("\($0)") })
        #expect(try restoredCities(configuration) == [makeCity("Pune")])
    }
}

/// Writes as fast as it can.
private func runUntilKilled(path: String, notes: String, after microseconds: UInt32) throws {
    let notes = unsafe open(notes, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    var thread = pthread_t()
    let argument = unsafe UnsafeMutableRawPointer(bitPattern: UInt(microseconds) + 1)
    unsafe pthread_create(
        &thread, nil,
        { argument in
            usleep(UInt32(UInt(bitPattern: argument)))
            kill(getpid(), SIGKILL)
            return nil
        }, argument)
    let configuration = makeConfiguration(path, capacity: Model.capacity)
    let restored = try open(configuration)
    let database = Model.version(of: restored.cities)
    restored.file.run(
        since: database + 1,
        changes: { since in
            // Versions of the memory are one ahead of the model's, because 0 asks for everything.
            var version = since == 0 ? database : since - 1
            var note = version
            _ = unsafe write(notes, &note, 8)
            version += 1
            return StorageBatch(
                version: version + 1, cities: Model.cities(at: version, pointsSince: since == 0 ? 0 : version - 1))
        }, onEvent: { _ in })
}

private func lastNote(in path: String) -> UInt64? {
    let bytes = contents(of: path)
    guard bytes.count >= 8 else { return nil }
    return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
}
