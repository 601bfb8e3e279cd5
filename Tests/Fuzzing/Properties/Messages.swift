import Bytes
import JSON

@testable import AirQuality

/// A message of a feed: decoded, and taken into a store. What becomes of it may not depend on the messages before; what
/// is accepted must keep to the rules of readings; what is shown must have what was accepted.
public func checkMessages(_ message: [UInt8]) {
    var decoder = FeedDecoder(format: FeedFormat(), hashSeed: 7)
    let first = decoded(message, with: &decoder)
    // One of them for each input, because this is most of the time.
    _ = decoded(messagesBefore[message.count % messagesBefore.count], with: &decoder)
    let again = decoded(message, with: &decoder)
    expect(first == again, "\(first) and \(again)")
    for reading in first.readings {
        expect((1...CityName.maximumCount).contains(reading.name.count), "name \(reading.name)")
        expect(String(validating: reading.name, as: UTF8.self) != nil, "UTF-8 of \(reading.name)")
        expect(!reading.name.contains { $0 < 0x20 || $0 == 0x7F }, "control character in \(reading.name)")
        expect(!reading.index.isNaN, "no number")
    }
    checkShards(message, all: first)
    let accepted = first.readings.filter { (0...AirQualityIndex.maximum).contains($0.index) }
    store(message, FeedFormat(), cities: Set(accepted.map(\.name)).count)
    store(message, FeedFormat(items: JSONPointer("/a/0")!, timeField: "t"), cities: nil)
    // Concentrations change nothing of the readings; what is shown of them is a number.
    guard message.contains("pollutants".utf8) else { return }
    let format = FeedFormat(pollutantsField: "pollutants")
    var decoderOfConcentrations = FeedDecoder(format: format, hashSeed: 7)
    expect(decoded(message, with: &decoderOfConcentrations) == first, "other readings with concentrations")
    store(message, format, cities: Set(accepted.map(\.name)).count)
}

/// Two shards together have what one exporter has, each reading once; and each refuses what is nobody's.
private func checkShards(_ message: [UInt8], all: Decoded) {
    let shards = (0..<2).map { Shard(index: $0, count: 2) }
    let parts = shards.map { shard in
        var decoder = FeedDecoder(format: FeedFormat(shard: shard), hashSeed: 7)
        return decoded(message, with: &decoder)
    }
    for (shard, part) in zip(shards, parts) {
        expect(part.readings == all.readings.filter { shard.contains($0.name.span) }, "readings of \(shard): \(part)")
    }
    for reason in RefusalReason.allCases {
        let ofElements: [RefusalReason] = [.noValue, .badValue, .badTime]
        let counts = parts.map { $0.refusals[reason] }
        let isRight =
            ofElements.contains(reason)
            ? counts[0] + counts[1] == all.refusals[reason]
            : counts.allSatisfy { $0 == all.refusals[reason] }
        expect(isRight, "\(counts) instead of \(all.refusals[reason]) refusals as \(reason)")
    }
    for (part, other) in [(parts[0], parts[1]), (parts[1], parts[0])] {
        let refused = [.noValue, .badValue, .badTime].reduce(0) { $0 + Int(other.refusals[$1]) }
        expect(part.skipped == other.readings.count + refused, "skipped \(part.skipped), and the other had \(other)")
    }
}

/// Longer ones, shorter ones, and some that leave a parser in the middle.
private let messagesBefore = [
    "[" + String(repeating: #"{"city":"Pune","aqi":1},"#, count: 300) + "{}]", "[]", #"[{"city":"Pune","aqi":"#, "7",
    String(repeating: "[", count: 600),
].map { Array($0.utf8) }

private struct Decoded: Equatable {
    struct Reading: Equatable {
        var name: [UInt8]
        var index: Double
    }

    var readings: [Reading] = []
    var refusals: RefusalCounts
    var skipped: Int
}

private let arrival: Timestamp = 1_795_236_585_252

private func decoded(_ message: [UInt8], with decoder: inout FeedDecoder) -> Decoded {
    decoder.decode(message.span, receivedAt: arrival) { decoded, names in
        Decoded(
            readings: decoded.readings.map { reading in
                Decoded.Reading(name: reading.nameRange.map { names[$0] }, index: reading.index)
            }, refusals: decoded.refusals, skipped: decoded.skipped)
    }
}

/// - Parameter cities: how many there must be; nil = any number.
private func store(_ message: [UInt8], _ format: FeedFormat, cities: Int?) {
    let store = ReadingStore(
        rules: StoreRules(
            readingsHaveTimes: format.timeField != nil, readingsHaveConcentrations: format.pollutantsField != nil,
            hashSeed: 7), feeds: ["ws://feed.example/"], at: arrival)
    var decoder = FeedDecoder(format: format, hashSeed: 7)
    _ = decoder.decode(message.span, receivedAt: arrival) { store.record($0, names: $1, feed: 0) }
    let count = store.snapshot().cityCount
    expect(cities == nil || count == cities, "\(count) cities instead of \(cities ?? 0)")
    if format.pollutantsField != nil {
        let build = ExporterReport.Build(version: "", revision: "", branch: "", swiftVersion: "")
        var page = MetricsPage(rules: store.rules, build: build)
        let text = page.render(store.snapshot(), report: ExporterReport(), format: .text004).pieces.flatMap(\.self)
        let family = Array("airquality_concentration_ugm3{".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: family) {
            let number = line.suffix(from: line.lastIndex(of: UInt8(ascii: " "))! + 1)
            let value = Double(String(decoding: number, as: UTF8.self)) ?? -1
            expect(value >= 0 && value <= Concentrations.maximum, "concentration \(value)")
        }
    }
    let document = HistoryDocument.render(store)
    expect(String(validating: document, as: UTF8.self) != nil, "UTF-8 of the history document")
}
