import Foundation
import TestSupport
import Testing

@testable import FeedSimulation

private struct Element: Decodable {
    struct Place: Decodable {
        var latitude: Double
        var longitude: Double
    }

    var city: String
    var aqi: Double
    var pollutants: [String: Double]?
    var subindices: [String: Double]?
    var place: Place?
}

private func decoded(_ message: [UInt8]) throws -> [Element] {
    try JSONDecoder().decode([Element].self, from: Data(message))
}

/// A day of the twelve cities.
private struct LongRun: Sendable {
    static let stepCount = 10_800
    static let interval = Duration.seconds(8)
    /// Indices in order.
    var indices: [String: [Double]] = [:]
    var isInOrder = true
    var sizes: Set<Int> = []

    static let shared = LongRun()

    init() {
        var simulator = FeedSimulator(seed: 20_211_201, interval: Self.interval)
        let positions = Dictionary(uniqueKeysWithValues: CityNames.real.enumerated().map { ($1, $0) })
        for _ in 0..<Self.stepCount {
            let cities = Self.cities(in: simulator.nextMessages()[0])
            for (city, aqi) in cities { indices[city, default: []].append(aqi) }
            let order = cities.compactMap { positions[$0.name] }
            isInOrder = isInOrder && order == order.sorted() && Set(order).count == cities.count
            sizes.insert(cities.count)
        }
    }

    /// The same as a JSON decoder finds, which takes too long for a day.
    private static func cities(in message: [UInt8]) -> [(name: String, aqi: Double)] {
        String(decoding: message, as: UTF8.self).split(separator: "{\"city\":\"").dropFirst().compactMap { element in
            let parts = element.split(separator: "\",\"aqi\":", maxSplits: 1)
            guard parts.count == 2, let aqi = Double(parts[1].prefix { $0 != "," }) else { return nil }
            return (String(parts[0]), aqi)
        }
    }
}

struct FeedSimulatorTests {
    @Test func `The same seed gives the same messages`() throws {
        var simulator = FeedSimulator(seed: 1)
        var lines: [UInt8] = []
        for _ in 0..<8 { lines += Array(simulator.nextMessages().joined()) + [UInt8(ascii: "\n")] }
        try expectGolden(lines, named: "seed-1.jsonl")
    }

    @Test func `Drift, batches and invented cities also depend only on the seed`() throws {
        var simulator = FeedSimulator(cities: 40, coverage: 0.5, seed: 2, drift: 1, batch: 6)
        let lines = (0..<4).flatMap { _ in simulator.nextMessages() }.flatMap { $0 + [UInt8(ascii: "\n")] }
        try expectGolden(lines, named: "seed-2-drift-batch.jsonl")
    }

    @Test func `Categories change during a day, but not every minute`() {
        let boundaries: [Double] = [51, 101, 201, 301, 401]
        let changes = LongRun.shared.indices.values.reduce(0) { sum, indices in
            let categories = indices.map { reading in boundaries.count { $0 <= reading } }
            return sum + zip(categories, categories.dropFirst()).count { $0 != $1 }
        }
        #expect((40...240).contains(changes), "\(changes) changes")
    }

    /// The demo's messages, one each two seconds.
    @Test func `In a day of half an hour a category changes within two minutes, whatever the seed`() throws {
        let boundaries: [Double] = [51, 101, 201, 301, 401]
        for seed in 0..<300 as Range<UInt64> {
            var simulator = FeedSimulator(seed: seed, day: .seconds(1800))
            var categories: [String: Int] = [:]
            let step = try (0..<60).first { _ in
                try decoded(simulator.nextMessages()[0]).contains { element in
                    let category = boundaries.count { $0 <= element.aqi }
                    let previous = categories.updateValue(category, forKey: element.city)
                    return previous != nil && previous != category
                }
            }
            #expect(step != nil, "seed \(seed)")
        }
    }

    @Test(arguments: [(1000, true), (1001, false)])
    func `Elements have details, unless there are very many cities`(cities: Int, areDetailed: Bool) throws {
        var simulator = FeedSimulator(cities: cities, coverage: 1, seed: 1)
        for element in try decoded(simulator.nextMessages()[0]) {
            guard areDetailed else {
                #expect(element.place == nil && element.pollutants == nil && element.subindices == nil)
                continue
            }
            let subIndices = try #require(element.subindices)
            #expect(subIndices.count == 7 && subIndices.values.max() == element.aqi)
            #expect(try #require(element.pollutants).keys.sorted() == subIndices.keys.sorted())
            let place = try #require(element.place)
            #expect((8...31).contains(place.latitude) && (72...89).contains(place.longitude))
        }
    }

    @Test func `Messages keep the order of the cities and have between none and all of them`() {
        #expect(LongRun.shared.isInOrder)
        #expect(LongRun.shared.sizes.isSubset(of: 0...12))
        #expect(LongRun.shared.sizes.isSuperset(of: 3...11))
        #expect(Set(LongRun.shared.indices.keys) == Set(CityNames.real))
    }

    @Test(arguments: [(0.0, 0), (1.0, 12)])
    func `A coverage of 0 includes no city, and a coverage of 1 includes all`(coverage: Double, count: Int) throws {
        var simulator = FeedSimulator(coverage: coverage, seed: 1)
        for _ in 0..<50 {
            let messages = simulator.nextMessages()
            #expect(messages.count == 1)
            #expect(try decoded(messages[0]).count == count)
        }
    }

    @Test(arguments: [(12, [12]), (11, [11, 1]), (5, [5, 5, 2]), (1, Array(repeating: 1, count: 12))])
    func `A message has at most as many cities as a batch`(batch: Int, sizes: [Int]) throws {
        var simulator = FeedSimulator(coverage: 1, seed: 1, batch: batch)
        #expect(try simulator.nextMessages().map { try decoded($0).count } == sizes)
    }

    @Test func `Without drift a city stays near its level, and with drift it wanders within bounds`() throws {
        func range(drift: Double) throws -> ClosedRange<Double> {
            var simulator = FeedSimulator(cities: 1, coverage: 1, seed: 4, drift: drift)
            let indices = try (0..<5000).flatMap { _ in try decoded(simulator.nextMessages()[0]).map(\.aqi) }
            return try #require(indices.min())...(try #require(indices.max()))
        }
        #expect(try (150.0...210).contains(range(drift: 0)))
        let slow = try range(drift: 5)
        #expect(slow.upperBound - slow.lowerBound > 100)
        let wild = try range(drift: 200)
        #expect(wild.lowerBound >= 1 && wild.lowerBound < 10 && wild.upperBound > 990 && wild.upperBound <= 999)
    }

    @Test func `A hundred thousand cities are split into messages below 1 MiB`() throws {
        var simulator = FeedSimulator(cities: 100_000, seed: 1)
        let messages = simulator.nextMessages()
        #expect((6...7).contains(messages.count))
        #expect(messages.allSatisfy { $0.count < 1 << 20 })
        let cities = try messages.flatMap { try decoded($0).map(\.city) }
        #expect(abs(cities.count - 60_000) < 1000)
        #expect(Set(cities).count == cities.count)
    }
}
