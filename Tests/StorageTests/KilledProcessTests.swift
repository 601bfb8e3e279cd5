import AirQuality
import Glibc
import TestSupport
import Testing

@testable import Storage

/// What an exporter's memory holds at a version, so that a file can be compared with it. Every version adds a point to
/// every city.
private struct Model {
    static let names = (0..<30).map { "city \($0)" }

    /// Takes a store from one version to the next.
    static func advance(_ store: ReadingStore, to version: Int) { store.receive(names, index(version), at: version) }

    static func cities(at version: Int) -> [City] {
        let store = makeStore()
        for version in max(1, version - 24)..<version + 1 { advance(store, to: version) }
        return store.cities
    }

    /// 0 for none.
    static func version(of cities: [City]) -> Int { cities.first.map { Int($0.updatedAt - testTime) / 1000 } ?? 0 }

    /// In one category.
    private static func index(_ version: Int) -> Double { Double(version * 31 % 500) / 10 }
}

@Suite struct `A process that is killed` {
    let directory = TemporaryDirectory()

    /// Each round is a process of its own that goes on from what it finds and is killed at a moment of its own, while it
    /// opens the file, writes or moves the journal. Before it asks for the changes since a version, it notes that
    /// version: it must be there afterwards, whole. `STORAGE_KILL_COUNT` sets how often.
    @Test func `leaves a sound file with all that was written, whole and once, at any moment`() async throws {
        let count = unsafe getenv("STORAGE_KILL_COUNT").flatMap { unsafe Int(String(cString: $0)) } ?? 20
        var random = SeededRandom(seed: 7)
        let path = directory.file("storage.db")
        let notes = directory.file("notes")
        var version = 0
        var transactionCount = 0
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
            let store = makeStore()
            let outcome = try open(copy, store).outcome
            let found = Model.version(of: store.cities)
            if found > 0 {
                #expect(outcome == .restored(cities: Model.names.count, leftOut: 0), "round \(round)")
            }
            #expect(found >= noted, "round \(round)")
            #expect(store.cities == (found == 0 ? [] : Model.cities(at: found)), "round \(round)")
            transactionCount += found - version
            version = found
        }
        // How many there are is a matter of the machine.
        #expect(transactionCount > 0, "some processes lived long enough to write")
        #expect(!directory.names.contains { $0.contains("damaged") })
        print("\(count) kills, \(transactionCount) transactions, nothing lost")
    }

    @Test func `loses the counters, because those that were seen last may not have been written`() throws {
        let path = directory.file("storage.db")
        let store = makeStore()
        for (second, index) in [10, 60, 10].enumerated() { store.receive("Pune", Double(index), at: second) }
        try save(store, in: path)
        #expect(store.cities[0].changes.worse == 1)
        #expect(try restored(path).cities == store.cities, "after a proper end")
        // That was a start without a proper end.
        let again = try restored(path).cities
        #expect(again.map(\.changes.worse) == [0] && again.map(\.changes.better) == [0])
        #expect(again.map(\.changes.direction) == [1])
        #expect(try integer("SELECT count(better) + count(worse) FROM city", in: path) == 0)
    }

    @Test func `keeps the lock until it has closed the file, also against itself`() throws {
        let path = directory.file("storage.db")
        let store = makeStore()
        let first = try open(path, store)
        #expect(throws: StorageError.rejected("another process has it open").error(of: path)) {
            _ = try open(path, makeStore())
        }
        store.receive("Pune", 1, at: 0)
        finish(first)
        #expect(try restored(path).cities == store.cities)
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
    let store = makeStore()
    var writer = try makeWriter(path, store)
    var version = Model.version(of: store.cities)
    while true {
        // What is noted has been written.
        var note = UInt64(version)
        _ = unsafe write(notes, &note, 8)
        version += 1
        Model.advance(store, to: version)
        _ = writer.pass(now: testTime)
    }
}

private func lastNote(in path: String) -> Int? {
    let bytes = contents(of: path)
    guard bytes.count >= 8 else { return nil }
    return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
}
