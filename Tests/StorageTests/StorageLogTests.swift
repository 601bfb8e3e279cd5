import TestSupport
import Testing

@testable import Storage

@Suite("the log")
struct StorageLogTests {
    let directory = TemporaryDirectory()
    var configuration: StorageConfiguration { makeConfiguration(directory.file("storage.db")) }
    var path: String { configuration.path }

    static let records: [StorageRecord] = [
        .reading(city: 1, StoredReading(time: testTime, index: 0.1 + 0.2, isPoint: true)),
        .reading(city: 127, StoredReading(time: testTime, index: 0, isPoint: true, receivedAt: testTime)),
        .reading(city: 100_000, StoredReading(time: testTime - 5, index: 9999, receivedAt: testTime + 1)),
        .removal(city: 7),
        .reading(
            city: .max,
            StoredReading(
                time: StorageLimits.maximumTime, index: 301.25, receivedAt: 0,
                changes: .init(category: 6, direction: -1, changedAt: 3, better: 0, worse: UInt64(Int64.max)))),
        .countersBeginAnew,
        .reading(
            city: 0,
            StoredReading(
                time: 0, index: 1, isPoint: true, receivedAt: 0,
                changes: .init(category: 1, direction: 0, changedAt: nil, better: 1, worse: 2))),
        .reading(city: 5, StoredReading(time: .min, index: -.infinity, isPoint: true)),
        .reading(city: 5, StoredReading(time: .max, index: .greatestFiniteMagnitude, isPoint: true)),
    ]

    private func row(_ records: [StorageRecord]) -> [UInt8] {
        var writer = StorageLogWriter()
        for record in records { writer.append(record) }
        return writer.row
    }

    private func read(_ row: [UInt8]) -> (records: [StorageRecord], isWhole: Bool)? {
        guard var reader = StorageLogReader(row) else { return nil }
        var records: [StorageRecord] = []
        while let record = reader.next() { records.append(record) }
        return (records, reader.isAtEnd)
    }

    @Test("gives back each record, alone and among others")
    func roundTrip() throws {
        for record in Self.records { #expect(try #require(read(row([record]))) == ([record], true)) }
        #expect(try #require(read(row(Self.records))) == (Self.records, true))
        #expect(try #require(read(row([]))) == ([], true))
    }

    /// Files outlive programs.
    @Test("has the bytes that it always had")
    func bytes() {
        #expect(
            row([
                .reading(city: 300, StoredReading(time: 1000, index: 152, isPoint: true, receivedAt: 1000)),
                .removal(city: 1),
            ]) == [3, 0xD8, 4, 0xD0, 0x0F, 0, 0, 0, 0, 0, 0, 0x63, 0x40, 32, 2] + [0x16, 0x42, 0x6D, 0x68])
    }

    @Test("a point of a known city is small")
    func size() {
        let points = (0..<100).map { number in
            StorageRecord.reading(
                city: 1000 + Int64(number),
                StoredReading(time: testTime, index: 52.25, isPoint: true, receivedAt: testTime))
        }
        #expect(row(points).count <= 12 * points.count + 10)
    }

    @Test("that is damaged gives nothing, and never traps")
    func damage() {
        let whole = row(Self.records)
        for place in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[place] ^= 1 << UInt8(bit)
                #expect(StorageLogReader(bytes) == nil)
            }
            #expect(StorageLogReader(Array(whole[..<place])) == nil)
        }
        // With a checksum that is right: what cannot be read ends the row.
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = read(StorageLogWriter.withChecksum(bytes))
        }
    }

    // MARK: In the file

    /// Batches after the first, which is whole, go to the log; the file is left as a kill leaves it.
    private func write(_ batches: [StorageBatch]) throws {
        var writer = try makeWriter(configuration)
        for (number, batch) in batches.enumerated() {
            var batch = batch
            batch.version = UInt64(number + 1)
            #expect(writer.pass(now: testTime) { _ in batch }.error == nil)
        }
        drop(writer)
    }

    @Test("what it says is restored after a kill, and is rows after a proper end")
    func restores() throws {
        var pune = makeCity("Pune", index: 301, points: makePoints(3..<6))
        (pune.category, pune.direction, pune.changedAt, pune.better) = (5, -1, testTime, 2)
        var unchanged = makeCity("Agra", index: 77)
        unchanged.category = 4
        unchanged.changesAreStored = true
        try write([
            StorageBatch(version: 0, cities: [makeCity("Agra"), makeCity("Pune", points: makePoints(0..<3))]),
            StorageBatch(version: 0, cities: [pune, unchanged]),
            StorageBatch(version: 0, cities: [makeCity("Delhi", points: makePoints(1..<2))]),
        ])
        pune.points = makePoints(0..<6)
        unchanged.category = 1
        unchanged.changesAreStored = false
        let expected = [unchanged, withoutCounters(pune), makeCity("Delhi", points: makePoints(1..<2))]
        #expect(try restoredCities(configuration) == expected)
        #expect(try integer("SELECT count(*) FROM point", in: path) == 3)
        try store([StorageBatch(version: 9)], in: configuration)
        #expect(try restoredCities(configuration) == expected)
        #expect(try integer("SELECT count(*) FROM point", in: path) == 7)
        #expect(try integer("SELECT count(*) FROM log", in: path) == 0)
    }

    @Test("counters begin anew after a kill, and go on after a proper end")
    func counters() throws {
        func city(better: UInt64) -> StoredCity {
            var city = makeCity("Pune")
            city.better = better
            return city
        }
        try write([
            StorageBatch(version: 0, cities: [city(better: 1)]), StorageBatch(version: 0, cities: [city(better: 2)]),
        ])
        #expect(try restoredCities(configuration) == [city(better: 0)])
        // Another process, in which it does not change, ends properly: 2 is gone for ever.
        let second = try open(configuration)
        second.file.stop()
        second.file.run(since: 5, changes: { _ in StorageBatch(version: 5) }, onEvent: { _ in })
        #expect(try restoredCities(configuration) == [city(better: 0)])
        let third = try open(configuration)
        third.file.stop()
        third.file.run(
            since: 5, changes: { _ in StorageBatch(version: 6, cities: [city(better: 3)]) }, onEvent: { _ in })
        #expect(try open(configuration).cities == [city(better: 3)])
    }

    @Test("a city that is gone takes its records along, though another has its number")
    func removal() throws {
        let points = makePoints(0..<3)
        try write([
            StorageBatch(version: 0, cities: [makeCity("Agra")]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: points), makeCity("Pune", points: points)]),
            StorageBatch(version: 0, cities: [makeCity("Pune", index: 99, points: makePoints(3..<4))]),
            // Has the number that Pune had.
            StorageBatch(
                version: 0, cities: [makeCity("Delhi", points: makePoints(7..<8))], removed: [Array("Pune".utf8)]),
        ])
        #expect(try integer("SELECT max(id) FROM city", in: path) == 2)
        let restored = try open(configuration)
        #expect(restored.cities == [makeCity("Agra", points: points), makeCity("Delhi", points: makePoints(7..<8))])
        #expect(restored.skippedRows == 0)
    }

    @Test("a row that is damaged is skipped, counted, and gone after the next batch")
    func damagedRow() throws {
        try write([
            StorageBatch(version: 0, cities: [makeCity("Agra")]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(0..<1))]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(1..<2))]),
        ])
        try execute("UPDATE log SET records = zeroblob(20) WHERE id = 1", on: path)
        let restored = try open(configuration)
        #expect(restored.cities == [makeCity("Agra", points: makePoints(1..<2))])
        #expect(restored.skippedRows == 1)
        let whole = [makeCity("Agra", points: makePoints(0..<2))]
        restored.file.stop()
        restored.file.run(
            since: 5, changes: { StorageBatch(version: 5, cities: $0 == 0 ? whole : []) }, onEvent: { _ in })
        let again = try open(configuration)
        #expect(again.cities == whole)
        #expect(again.skippedRows == 0)
    }

    @Test("a point takes away those of the city that are not before it: the clock was set back, or they come again")
    func order() throws {
        try write([
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(3..<6)), makeCity("Pune")]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(8..<9))]),
            StorageBatch(version: 0, cities: [makeCity("Pune", points: makePoints(0..<1))]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(4..<5))]),
            StorageBatch(
                version: 0,
                cities: [makeCity("Agra", points: [StoredPoint(time: makePoints(4..<5)[0].time, index: 77)])]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(6..<7))]),
        ])
        var expected = makePoints(3..<5) + makePoints(6..<7)
        expected[1].index = 77
        #expect(try restoredCities(configuration).first?.points == expected)
        // As rows of their own as well.
        try store([StorageBatch(version: 9)], in: configuration)
        #expect(try restoredCities(configuration).first?.points == expected)
    }

    @Test("points of the future of a clock that was set back do not stand in place of newer ones") func clock() throws {
        let future = makePoints(1_000_000..<1_000_025)
        try write([
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(0..<1))]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: future)]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(1..<2))]),
            StorageBatch(version: 0, cities: [makeCity("Agra", points: makePoints(2..<3))]),
        ])
        #expect(try restoredCities(configuration).first?.points == makePoints(0..<3))
    }

    @Test("a batch that is longer than a row may be is several rows") func manyRows() throws {
        let points = makePoints(0..<1000)
        let cities = (0..<500).map { makeCity("city \($0)", points: points) }
        let configuration = makeConfiguration(path, capacity: 1000)
        var writer = try makeWriter(configuration)
        for (number, batch) in [[makeCity("first")], cities].enumerated() {
            let report = writer.pass(now: testTime) { _ in StorageBatch(version: UInt64(number + 1), cities: batch) }
            #expect(report.error == nil)
        }
        drop(writer)
        #expect(try integer("SELECT count(*) FROM log", in: path) > 1)
        #expect(try integer("SELECT max(length(records)) FROM log", in: path) < 5 << 20)
        #expect(try open(configuration).cities.dropFirst().elementsEqual(cities))
    }
}

/// The trimming of a file that has become long: what the memory has is written once more, and the rest is dropped.
@Suite("a file that is too long")
struct TrimmingTests {
    let directory = TemporaryDirectory()
    var configuration: StorageConfiguration { makeConfiguration(directory.file("storage.db"), capacity: 4) }
    static let cityCount = 20

    /// Writes rounds of a point for each city, with trimmings in three parts.
    @Test("becomes short again, and nothing is lost, whenever it ends")
    func trims() throws {
        var writer = try makeWriter(configuration)
        var trimmings = 0
        var lengths: [Int] = []
        var cities = (0..<Self.cityCount).map { makeCity("city \($0)") }
        for round in 0..<6000 {
            for number in cities.indices {
                cities[number].points = Array((cities[number].points + makePoints(round..<round + 1)).suffix(4))
                cities[number].index = Double(round % 500)
            }
            // One city is silent from early on: its points must be written again.
            if round > 100 { cities[7] = Self.silent }
            let batch = StorageBatch(
                version: UInt64(round + 1),
                cities: cities.indices.filter { $0 != 7 || round <= 100 }.map { number in
                    var city = cities[number]
                    city.points = Array(city.points.suffix(1))
                    city.changesAreStored = round % 50 > 0
                    return city
                })
            let report = writer.pass(
                now: testTime, changes: { _ in batch },
                part: { first in
                    let end = min(first + 8, cities.count)
                    if end == cities.count { trimmings += 1 }
                    return StoragePart(cities: Array(cities[first..<end]), next: end < cities.count ? end : nil)
                })
            #expect(report.error == nil)
            if round % 200 == 199 { lengths.append(contents(of: configuration.path).count) }
        }
        #expect(trimmings == 2)
        drop(writer)
        let restored = try open(configuration)
        #expect(restored.cities == cities)
        #expect(restored.skippedRows == 0)
        #expect(try #require(lengths.max()) < 3_000_000)
    }

    static let silent: StoredCity = {
        var city = makeCity("city 7", points: makePoints(97..<101))
        city.index = 100
        return city
    }()
}
