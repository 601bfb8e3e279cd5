import AirQuality
import TestSupport
import Testing

@testable import Storage

@Suite struct `The storage file compared with its store` {
    /// Readings of some cities, clocks that go back, cities that expire, and ends of both kinds, in random order: a
    /// start finds what the store had at the last batch.
    @Test(arguments: 0..<12, HistoryRule.Keep.allCases)
    func `The file holds what the store had at the last batch, whatever happened before`(
        seed: Int, keep: HistoryRule.Keep
    ) throws {
        let directory = TemporaryDirectory(in: "/dev/shm")
        let path = directory.file("storage.db")
        var random = SeededRandom(seed: UInt64(seed))
        let rules = StoreRules(
            history: HistoryRule(capacity: 4, interval: seed % 2 == 0 ? 0 : 3000, keep: keep), expireAfter: 60_000)
        func makeStore() -> ReadingStore { ReadingStore(rules: rules, feeds: [""], at: testTime) }
        var store = makeStore()
        var writer = try makeWriter(path, store)
        var second = 0
        for step in 0..<150 {
            second += Int.random(in: 0..<5, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: second = max(0, second - Int.random(in: 1..<30, using: &random))
            case 1: second += 50
            case 2:
                store.closeWindows(at: testTime + Int64(second) * 1000)
                _ = store.expire(at: testTime + Int64(second) * 1000)
                #expect(writer.pass(now: testTime) == [])
            case 3...5:
                #expect(writer.pass(now: testTime) == [])
                let expected = store.cities
                drop(writer)
                writer = try restart(path, &store, makeStore())
                // A city without a point comes back only if a clean end wrote its reading.
                for city in expected {
                    let found = store.cities.first { $0.name == city.name }
                    #expect((found?.points ?? []) == city.points, "step \(step)")
                }
                #expect(store.cities.allSatisfy { city in expected.contains { $0.name == city.name } }, "step \(step)")
            case 6:
                let expected = store.cities
                finish(writer)
                writer = try restart(path, &store, makeStore())
                #expect(store.cities == expected, "step \(step)")
            case 7...9: #expect(writer.pass(now: testTime) == [])
            default:
                let names = (0..<4).filter { _ in Bool.random(using: &random) }.map { "City \($0)" }
                store.receive(names, Double(Int.random(in: 0..<500, using: &random)), at: second, milliseconds: step)
            }
        }
        drop(writer)
    }

    private func restart(_ path: String, _ store: inout ReadingStore, _ next: ReadingStore) throws -> StorageWriter {
        store = next
        return try makeWriter(path, next)
    }
}
