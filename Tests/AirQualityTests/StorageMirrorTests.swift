import TestSupport
import Testing

@testable import AirQuality

/// A storage file as a value.
private struct ModelFile {
    struct Row: Equatable {
        var index: Double
        var receivedAt: Timestamp
        var isKept: Bool
    }

    struct City {
        var name: [UInt8]
        var category: UInt8
        var changes: CategoryChanges
        var rows: [Timestamp: Row] = [:]
    }

    var cities: [Int64: City] = [:]

    mutating func apply(_ changes: StorageChanges) {
        for id in changes.removed { #expect(cities.removeValue(forKey: id) != nil) }
        for city in changes.cities {
            if let name = city.name {
                #expect(cities[city.id] == nil)
                cities[city.id] = City(name: name, category: city.category, changes: city.changes)
            } else if city.hasNewCategory {
                cities[city.id]!.category = city.category
                cities[city.id]!.changes = city.changes
            }
            if let from = city.removedFrom {
                let rows = cities[city.id]!.rows.filter { $0.key < from }
                cities[city.id]!.rows = rows
            }
            if let time = city.replacedAt {
                let row = cities[city.id]!.rows.removeValue(forKey: time)
                #expect(row?.isKept == false || city.removedFrom.map { $0 <= time } == true)
            }
            for reading in city.readings {
                cities[city.id]!.rows[reading.time] = Row(
                    index: reading.index, receivedAt: reading.receivedAt, isKept: reading.isKept)
            }
        }
    }

    mutating func clean(_ oldest: [Int64: Timestamp]) {
        for (id, time) in oldest {
            let rows = cities[id]?.rows.filter { !$0.value.isKept || $0.key >= time }
            cities[id]?.rows = rows ?? [:]
        }
    }

    /// As a start reads it.
    func restored(capacity: Int) -> [AirQuality.City] {
        cities.map { id, city in
            let points = city.rows.filter(\.value.isKept).sorted { $0.key < $1.key }
            let current = city.rows.filter { !$0.value.isKept }
            #expect(current.count <= 1)
            let newest = current.first ?? points.last!
            return AirQuality.City(
                id: id, name: city.name, index: newest.value.index, updatedAt: newest.key,
                receivedAt: newest.value.receivedAt, category: city.category, changes: city.changes,
                points: points.suffix(capacity).map { HistoryPoint(time: $0.key, index: $0.value.index, category: 1) })
        }
    }
}

/// Sorted, without what a file does not have.
private func comparable(_ cities: [City]) -> [City] {
    cities.map { city in
        var city = city
        city.id = 0
        for place in city.points.indices { city.points[place].category = 1 }
        return city
    }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
}

@Suite("The mirror of the storage file") struct StorageMirrorTests {
    /// Readings, expiry, a clock that is set, failing writes, restarts and late files, at random.
    @Test(
        "makes the file what the store is, whatever happened before",
        arguments: [HistoryRule.Keep.first, .last], 1...20 as ClosedRange<UInt64>)
    func model(keep: HistoryRule.Keep, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let hasTimes = seed % 3 == 0
        let history = HistoryRule(capacity: 3, interval: seed % 2 == 0 ? 0 : 2000, keep: keep)
        func make() -> TestStore {
            TestStore(history: history, expireAfter: 40_000, format: FeedFormat(timeField: hasTimes ? "time" : ""))
        }
        var test = make()
        var (mirror, file, now) = (StorageMirror(), ModelFile(), TestStore.start)
        var (value, failed) = (0.0, 0)
        for _ in 0..<600 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6:
                // An index of its own for each reading, now and then another category.
                value = (value + 0.125 + (Bool.random(using: &random) ? 0 : 40)).truncatingRemainder(dividingBy: 480)
                let city = Int.random(in: 0..<4, using: &random)
                let time = now - (hasTimes ? Int64.random(in: 0..<3000, using: &random) : 0)
                test.receive(#"{"city":"City \#(city)","aqi":\#(value),"time":\#(time)}"#, at: now)
            case 6, 7: now += Int64.random(in: 1..<5000, using: &random)
            case 8 where Int.random(in: 0..<8, using: &random) == 0:
                let step = Int64.random(in: -20_000..<20_000, using: &random)
                now += step
                test.store.moveArrivals(at: now, by: step, elapsed: 0)
            case 9:
                test.store.closeWindows(at: now)
                _ = test.store.expire(at: now)
            case 10:
                let snapshot = test.store.snapshot(withHistories: true)
                let changes = mirror.changes(to: snapshot, at: now, limit: Int.random(in: 1..<9, using: &random))
                guard Bool.random(using: &random) else {
                    failed += 1
                    continue
                }
                file.apply(changes)
                mirror.apply(changes)
            case 11 where Int.random(in: 0..<6, using: &random) == 0:
                // A restart: what was not written is gone.
                test = make()
                let stored = file.restored(capacity: 3)
                test.store.restore(stored, at: now)
                for city in test.store.snapshot(withHistories: true).storedCities {
                    #expect(city.category == Scale.india.category(of: city.index))
                }
                mirror = StorageMirror(stored, in: test.store.snapshot(withHistories: true))
            default: break
            }
        }
        let snapshot = test.store.snapshot(withHistories: true)
        let changes = mirror.changes(to: snapshot, at: .max)
        #expect(changes.isComplete)
        file.apply(changes)
        mirror.apply(changes)
        file.clean(mirror.oldestPoints(in: snapshot))
        #expect(comparable(file.restored(capacity: 3)).map(\.name) == comparable(snapshot.storedCities).map(\.name))
        // With windows a current value may have the time of an older point, or be older than the newest: the point wins.
        if keep == .first { #expect(comparable(file.restored(capacity: 3)) == comparable(snapshot.storedCities)) }
        #expect(comparable(file.restored(capacity: 3)).map(\.points) == comparable(snapshot.storedCities).map(\.points))
        #expect(mirror.changes(to: snapshot, at: .max).isEmpty, "nothing is written twice")
        #expect(failed > 0)
    }

    /// What is written of each city: its newest reading, how many readings, and `changes` for a new category.
    private func written(_ store: ReadingStore, _ mirror: inout StorageMirror, at now: Timestamp) -> [String] {
        let changes = mirror.changes(to: store.snapshot(withHistories: true), at: now)
        mirror.apply(changes)
        return changes.cities.map { city in
            (city.readings.last.map { "\($0.index) of \(city.readings.count)" } ?? "none")
                + (city.hasNewCategory ? " changes" : "")
        }
    }

    @Test("has a current value at once if it is a point, else when it has waited for 30 s") func currentValues() {
        var test = TestStore()
        var mirror = StorageMirror()
        let store = test.store
        func saved(at time: Int64) -> [String] { written(store, &mirror, at: TestStore.start + time) }
        test.receive("New", 40, at: TestStore.start)
        #expect(saved(at: 0) == ["40.0 of 1 changes"])
        // The second point, then a reading that is nothing but the current value.
        test.receive("New", 41, at: TestStore.start + 2000)
        #expect(saved(at: 2500) == ["41.0 of 1"])
        test.receive("New", 42, at: TestStore.start + 4000)
        #expect(saved(at: 4500) == [])
        test.receive("New", 43, at: TestStore.start + 8000)
        // Silent since.
        #expect(saved(at: 37_999) == [])
        #expect(saved(at: 38_000) == ["43.0 of 1"])
        #expect(saved(at: 99_000) == [])
        // At the end nothing waits.
        test.receive("New", 44, at: TestStore.start + 8001)
        #expect(saved(at: 8001) == [])
        #expect(written(test.store, &mirror, at: .max) == ["44.0 of 1"])
        #expect(written(test.store, &mirror, at: .max) == [])
    }

    @Test("has new categories with their values, all of five minutes at once") func categories() {
        var test = TestStore()
        var mirror = StorageMirror()
        let store = test.store
        func saved(at time: Int64) -> [String] { written(store, &mirror, at: TestStore.start + time) }
        #expect(saved(at: 0) == [])
        for city in ["Agra", "Pune"] { test.receive(city, 40, at: TestStore.start) }
        #expect(saved(at: 500) == ["40.0 of 1 changes", "40.0 of 1 changes"])
        for (time, index) in [(2000, 60.0), (5000, 40), (6000, 60)] as [(Int64, Double)] {
            test.receive("Pune", index, at: TestStore.start + time)
        }
        #expect(saved(at: 6500) == ["60.0 of 1"], "the second point")
        test.receive("Agra", 70, at: TestStore.start + 298_000)
        test.receive("Agra", 71, at: TestStore.start + 298_500)
        #expect(saved(at: 299_999) == ["71.0 of 2", "60.0 of 1"])
        #expect(saved(at: 300_000) == ["none changes", "none changes"])
        test.receive("Pune", 40, at: TestStore.start + 300_500)
        #expect(saved(at: 599_999) == ["40.0 of 1"])
        #expect(saved(at: 600_000) == ["none changes"])
        #expect(saved(at: 2_000_000) == [])
    }

    @Test("counts its ids on from the file's, and gives none twice") func ids() {
        var test = TestStore(expireAfter: 1000)
        let stored = City(id: 7, name: Array("Old".utf8), index: 1, updatedAt: 0, receivedAt: 0, category: 1)
        test.store.restore([stored], at: TestStore.start)
        var mirror = StorageMirror([stored], in: test.store.snapshot(withHistories: true))
        #expect(test.store.expire(at: TestStore.start) == 1)
        test.receive("New", 1, at: TestStore.start)
        let changes = mirror.changes(to: test.store.snapshot(withHistories: true), at: TestStore.start)
        #expect(changes.removed == [7] && changes.cities.map(\.id) == [8] && changes.cities[0].name != nil)
        mirror.apply(changes)
        #expect(mirror.changes(to: test.store.snapshot(withHistories: true), at: TestStore.start).isEmpty)
    }
}
