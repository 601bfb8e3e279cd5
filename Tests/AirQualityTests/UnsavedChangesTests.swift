import TestSupport
import Testing

@testable import AirQuality

@Suite("What is not saved")
struct UnsavedChangesTests {
    private func name(_ city: Int) -> [UInt8] { Array("City \(city)".utf8) }

    @Test("is given until it is committed")
    func commits() {
        var changes = UnsavedChanges()
        changes.countPoint(of: 1, isNew: true)
        changes.countPoint(of: 1, isNew: true)
        changes.countPoint(of: 2, isNew: true)
        changes.remove(3, named: name(3))
        #expect(changes.versionUnderWay == nil)
        changes.begin(version: 7)
        #expect(changes.versionUnderWay == 7)
        #expect([1, 2, 3].map(changes.pointCount) == [2, 1, 0])
        #expect(changes.removedNames == [name(3)])
        changes.commit()
        #expect(changes.versionUnderWay == nil)
        #expect([1, 2, 3].map(changes.pointCount) == [0, 0, 0])
        #expect(changes.removedNames.isEmpty)
    }

    @Test("is also what the storage has and is to forget")
    func unwanted() {
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        store.beginSaving(removing: [name(3), name(4)])
        let version = store.snapshot().version
        let changes = store.unsavedChanges(since: version)
        #expect(changes.removed == [name(3), name(4)] && changes.cities.isEmpty)
        #expect(store.unsavedChanges(since: version - 1).removed == [name(3), name(4)])
        #expect(store.unsavedChanges(since: changes.version).removed == [])
    }

    @Test("is given again after a rollback, with what came meanwhile")
    func rollsBack() {
        var changes = UnsavedChanges()
        changes.countPoint(of: 1, isNew: true)
        changes.remove(3, named: name(3))
        changes.begin(version: 7)
        changes.countPoint(of: 1, isNew: true)
        changes.remove(4, named: name(4))
        changes.rollback()
        #expect(changes.versionUnderWay == nil)
        #expect(changes.pointCount(of: 1) == 2)
        #expect(changes.removedNames == [name(3), name(4)])
        // Nothing is under way any more, so this says nothing.
        changes.commit()
        #expect(changes.pointCount(of: 1) == 2)
        #expect(changes.removedNames == [name(3), name(4)])
    }

    @Test("that came while an answer was under way is left for the next one")
    func meanwhile() {
        var changes = UnsavedChanges()
        changes.countPoint(of: 1, isNew: true)
        changes.remove(3, named: name(3))
        changes.begin(version: 7)
        changes.countPoint(of: 1, isNew: true)
        changes.countPoint(of: 2, isNew: true)
        changes.remove(4, named: name(4))
        changes.commit()
        #expect([1, 2].map(changes.pointCount) == [1, 1])
        #expect(changes.removedNames == [name(4)])
    }

    @Test("has a point that was replaced once more if it was under way, and not twice if it was not")
    func replacedPoints() {
        var changes = UnsavedChanges()
        changes.countPoint(of: 1, isNew: true)
        changes.countPoint(of: 1, isNew: false)
        #expect(changes.pointCount(of: 1) == 1)
        changes.begin(version: 7)
        changes.countPoint(of: 1, isNew: false)
        changes.countPoint(of: 1, isNew: false)
        #expect(changes.pointCount(of: 1) == 2)
        changes.commit()
        #expect(changes.pointCount(of: 1) == 1)
        // Saved long ago, and replaced now.
        changes.begin(version: 8)
        changes.commit()
        changes.countPoint(of: 1, isNew: false)
        #expect(changes.pointCount(of: 1) == 1)
    }

    @Test("has no points of a city that is gone, though its number is another's now")
    func removedCities() {
        var changes = UnsavedChanges()
        changes.countPoint(of: 1, isNew: true)
        changes.countPoint(of: 1, isNew: true)
        changes.begin(version: 7)
        changes.remove(1, named: name(1))
        #expect(changes.pointCount(of: 1) == 0)
        changes.countPoint(of: 1, isNew: true)
        changes.commit()
        #expect(changes.pointCount(of: 1) == 1)
        #expect(changes.removedNames == [name(1)])
    }

    @Test("names no more removed cities than it may, however long the storage fails")
    func boundedRemovals() {
        var changes = UnsavedChanges(maximumRemovedCount: 2)
        for city in 1...1000 {
            changes.begin(version: UInt64(city))
            changes.remove(city, named: name(city))
            changes.rollback()
        }
        #expect(changes.removedNames == [name(1), name(2)])
        changes.begin(version: 1001)
        changes.commit()
        changes.remove(3, named: name(3))
        #expect(changes.removedNames == [name(3)])
    }

    @Test("is bounded by the city limit")
    func cityLimit() {
        var test = TestStore(cityLimit: 2, expireAfter: 1000)
        test.store.beginSaving(removing: [])
        let version = test.store.snapshot().version
        for step in 0..<10 {
            let time = TestStore.start + Int64(step) * 2000
            test.receive("City \(step)", 1, at: time)
            #expect(test.store.expire(at: time + 1001) == 1)
        }
        #expect(test.store.unsavedChanges(since: version).removed == [Array("City 0".utf8), Array("City 1".utf8)])
    }

    /// A storage that writes what it is given, or fails to, against a list of all that happened.
    @Test(
        "reaches a storage that fails now and then, each point and removal once",
        arguments: 1...6 as ClosedRange<UInt64>)
    func failingStorage(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var changes = UnsavedChanges()
        var (kept, written) = ([Int](repeating: 0, count: 5), [Int](repeating: 0, count: 5))
        var (removed, writtenRemovals): ([[UInt8]], [[UInt8]]) = ([], [])
        for step in 1...2000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let city = Int.random(in: 0..<5, using: &random)
                changes.countPoint(of: city, isNew: true)
                kept[city] += 1
            case 2:
                // Numbers beyond those that have points.
                changes.remove(step + 5, named: name(step))
                removed.append(name(step))
            default:
                changes.begin(version: UInt64(step))
                let answer = (points: (0..<5).map(changes.pointCount), removals: changes.removedNames)
                if Bool.random(using: &random) {
                    changes.countPoint(of: 0, isNew: true)
                    kept[0] += 1
                }
                if Bool.random(using: &random) {
                    for city in 0..<5 { written[city] += answer.points[city] }
                    writtenRemovals += answer.removals
                    changes.commit()
                } else {
                    changes.rollback()
                }
            }
        }
        #expect((0..<5).map { written[$0] + changes.pointCount(of: $0) } == kept)
        #expect(writtenRemovals + changes.removedNames == removed)
    }
}
