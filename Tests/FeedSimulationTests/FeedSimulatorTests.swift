import Foundation
import TestSupport
import Testing

@testable import FeedSimulation

private struct Element: Decodable {
    var city: String
    var aqi: Double
}

private func decoded(_ message: [UInt8]) throws -> [Element] {
    try JSONDecoder().decode([Element].self, from: Data(message))
}

/// What recorded messages of the real feed show: the smallest and the largest index of each city.
private struct RecordedRange: Sendable, CustomTestStringConvertible {
    var city: String
    var range: ClosedRange<Double>
    var crossesBoundary: Bool
    var testDescription: String { city }

    init(_ city: String, _ range: ClosedRange<Double>, crosses: Bool = false) {
        self.city = city
        self.range = range
        crossesBoundary = crosses
    }

    static let all = [
        RecordedRange("Mumbai", 178.50...183.17), RecordedRange("Bengaluru", 188.36...193.50),
        RecordedRange("Delhi", 298.91...303.29, crosses: true),
        RecordedRange("Kolkata", 198.69...203.34, crosses: true),
        RecordedRange("Bhubaneswar", 98.61...102.56, crosses: true), RecordedRange("Chennai", 138.56...143.13),
        RecordedRange("Pune", 218.74...223.89), RecordedRange("Hyderabad", 198.17...203.13, crosses: true),
        RecordedRange("Indore", 48.30...51.78, crosses: true), RecordedRange("Jaipur", 138.59...143.40),
        RecordedRange("Chandigarh", 44.02...48.68), RecordedRange("Lucknow", 73.30...78.78),
    ]
}

/// What a long run of the twelve cities gave.
private struct LongRun: Sendable {
    static let stepCount = 20_000
    var indices: [String: [Double]] = [:]
    var isInOrder = true
    var sizes: Set<Int> = []

    static let shared = LongRun()

    init() {
        var simulator = FeedSimulator(seed: 20_211_201)
        let positions = Dictionary(uniqueKeysWithValues: CityNames.real.enumerated().map { ($1, $0) })
        for _ in 0..<Self.stepCount {
            for message in simulator.nextMessages() {
                guard let elements = try? decoded(message) else { continue }
                for element in elements { indices[element.city, default: []].append(element.aqi) }
                let order = elements.compactMap { positions[$0.city] }
                isInOrder = isInOrder && order == order.sorted() && Set(order).count == elements.count
                sizes.insert(elements.count)
            }
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

    @Test func `Drift, batches and invented cities depend on the seed alone as well`() throws {
        var simulator = FeedSimulator(cities: 40, coverage: 0.5, seed: 2, drift: 1, batch: 6)
        let lines = (0..<4).flatMap { _ in simulator.nextMessages() }.flatMap { $0 + [UInt8(ascii: "\n")] }
        try expectGolden(lines, named: "seed-2-drift-batch.jsonl")
    }

    @Test func `Another seed gives other messages`() {
        var one = FeedSimulator(seed: 1)
        var other = FeedSimulator(seed: 2)
        #expect(one.nextMessages() != other.nextMessages())
    }

    @Test(arguments: RecordedRange.all)
    private func `A city has the range that was recorded`(recorded: RecordedRange) throws {
        let indices = try #require(LongRun.shared.indices[recorded.city])
        let share = Double(indices.count) / Double(LongRun.stepCount)
        #expect(abs(share - 0.6) < 0.012)

        let (least, most) = (try #require(indices.min()), try #require(indices.max()))
        #expect(least <= recorded.range.lowerBound && recorded.range.upperBound <= most)
        #expect(most - least > 5.99 && most - least < 6)

        let boundaries: [Double] = [51, 101, 201, 301, 401]
        let crossed = boundaries.contains { least < $0 && $0 <= most }
        #expect(crossed == recorded.crossesBoundary)
    }

    @Test func `Messages keep the order of the cities and have between none and all of them`() {
        #expect(LongRun.shared.isInOrder)
        #expect(LongRun.shared.sizes.isSubset(of: 0...12))
        #expect(LongRun.shared.sizes.isSuperset(of: 3...11))
        #expect(Set(LongRun.shared.indices.keys) == Set(CityNames.real))
    }

    @Test func `Numbers are printed as JavaScript prints them`() throws {
        var simulator = FeedSimulator(seed: 3)
        var decimals: [Int: Int] = [:]
        for _ in 0..<5000 {
            let text = String(decoding: simulator.nextMessages()[0], as: UTF8.self)
            for part in text.split(separator: "\"aqi\":").dropFirst() {
                let digits = String(part.prefix { $0 != "}" })
                let number = try #require(Double(digits))
                #expect(digits == number.description || digits + ".0" == number.description)
                decimals[digits.split(separator: ".").dropFirst().first?.count ?? 0, default: 0] += 1
            }
        }
        let all = decimals.values.reduce(0, +)
        let usual = (11...15).map { decimals[$0] ?? 0 }.reduce(0, +)
        #expect(Double(usual) > 0.999 * Double(all))
        #expect(decimals.max { $0.value < $1.value }?.key == 14)
    }

    @Test(arguments: [(0.0, 0), (1.0, 12)])
    func `The ends of coverage are none and all`(coverage: Double, count: Int) throws {
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

    @Test func `Without drift a city stays near its constant, with drift it wanders within the bounds`() throws {
        func range(drift: Double) throws -> ClosedRange<Double> {
            var simulator = FeedSimulator(cities: 1, coverage: 1, seed: 4, drift: drift)
            let indices = try (0..<5000).flatMap { _ in try decoded(simulator.nextMessages()[0]).map(\.aqi) }
            return try #require(indices.min())...(try #require(indices.max()))
        }
        #expect(try (178.0...184).contains(range(drift: 0)))
        let slow = try range(drift: 0.5)
        #expect(slow.upperBound - slow.lowerBound > 12)
        let wild = try range(drift: 200)
        #expect(wild.lowerBound >= 1 && wild.lowerBound < 10 && wild.upperBound > 990 && wild.upperBound <= 999)
    }

    @Test func `A hundred thousand cities fit into messages that a reader takes`() throws {
        var simulator = FeedSimulator(cities: 100_000, seed: 1)
        let messages = simulator.nextMessages()
        #expect((6...7).contains(messages.count))
        #expect(messages.allSatisfy { $0.count < 1 << 20 })
        let cities = try messages.flatMap { try decoded($0).map(\.city) }
        #expect(abs(cities.count - 60_000) < 1000)
        #expect(Set(cities).count == cities.count)
    }
}
