import Testing

@testable import Storage

@Test("what was written is restored")
func restores() throws {
    let directory = TemporaryDirectory()
    let configuration = StorageConfiguration(path: directory.file("storage.db"), capacity: 25, scale: "india")
    let city = StoredCity(
        name: Array("Pune".utf8), index: 50.5, updatedAt: 5, receivedAt: 6, category: 1,
        points: [StoredPoint(time: 5, index: 50.5)])
    let opening = try StorageFile.open(configuration, now: { 1 })
    opening.file.stop()
    opening.file.run(since: 0, changes: { _ in StorageBatch(version: 7, cities: [city]) }, onEvent: { _ in })
    #expect(opening.outcome == .fresh)
    #expect(opening.file.statistics == StorageStatistics(errorCount: 0, lastWriteAt: 1))
    #expect(directory.names == ["storage.db"])
    let again = try StorageFile.open(configuration, now: { 1 })
    #expect(again.outcome == .restored)
    #expect(again.cities == [city])
}
