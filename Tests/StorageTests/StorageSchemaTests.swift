import AirQuality
import System
import TestSupport
import Testing

@testable import Storage

@Suite("schema versions") struct StorageSchemaTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    /// A file as the releases 0.1 wrote it.
    static let firstVersion =
        "PRAGMA page_size=1024; PRAGMA journal_mode=WAL;" + StorageSchema.first.creation + """
            PRAGMA application_id=\(0x4151_4958);
            PRAGMA user_version=1;
            INSERT INTO setting VALUES ('scale', 'india');
            INSERT INTO city VALUES
                (2, 'Delhi', 301.5, \(testTime), \(testTime), 5, -1, \(testTime - 5), 3, 4),
                (7, 'Pune', 50, \(testTime), \(testTime + 7), 1, 0, NULL, 0, 0);
            INSERT INTO point VALUES (2, \(testTime - 1000), 298), (2, \(testTime), 301.5), (7, \(testTime - 9), 51);
            """

    @Test(
        "a file of the first version is restored, and of the current one after the first batch",
        arguments: [false, true])
    func firstVersion(wasClosed: Bool) throws {
        try execute(
            Self.firstVersion + (wasClosed ? "INSERT INTO setting VALUES ('closed', 'with all counters')" : ""),
            on: path)
        let store = makeStore()
        let file = try open(path, store)
        #expect(file.outcome == .restored && file.skippedRows == 0)
        #expect(store.cities.map(\.index) == [301.5, 50])
        #expect(store.cities.map(\.receivedAt) == [testTime, testTime + 7])
        #expect(store.cities.map { $0.points.map(\.index) } == [[298, 301.5], [51]])
        #expect(store.cities.map(\.changes.worse) == [wasClosed ? 4 : 0, 0])
        store.receive("Pune", 60, at: 1)
        finish(file.file)
        #expect(try integer("PRAGMA user_version", in: path) == 3)
        #expect(try restored(path).cities == store.cities)
    }

    @Test(
        "a file of the first version on a read-only disk is restored",
        .enabled(if: MountedDisk.isAllowed, "needs mount"))
    func readOnlyFirstVersion() throws {
        let disk = try #require(MountedDisk(kibibytes: 1024))
        let path = disk.directory.file("storage.db")
        try execute(Self.firstVersion, on: path)
        disk.setReadOnly(true)
        let store = makeStore()
        #expect(try open(path, store).outcome == .failing(reason: "the file is read-only"))
        #expect(store.indices(of: "Delhi") == [298, 301.5] && store.indices(of: "Pune") == [51])
    }

    @Test(
        "a later version and one that was never released are refused and not touched",
        arguments: [(4, "this program knows up to 3"), (2, "no release")])
    func refuses(version: Int, words: String) throws {
        try save(makeStore([makeCity("Pune")]), in: path)
        try execute("PRAGMA user_version=\(version)", on: path)
        let before = contents(of: path)
        let error = #expect(throws: SystemError.self) { _ = try open(path, makeStore()) }
        #expect(error?.reason.contains(words) == true)
        #expect(error?.reason.contains("version \(version)") == true)
        #expect(contents(of: path) == before)
        #expect(throws: try #require(error)) { try StorageFile.check(path) }
    }
}
