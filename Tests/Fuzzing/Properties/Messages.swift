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
    let accepted = first.readings.filter { (0...AirQualityIndex.maximum).contains($0.index) }
    store(message, FeedFormat(), cities: Set(accepted.map(\.name)).count)
    store(message, FeedFormat(items: JSONPointer("/a/0")!, timeField: "t"), cities: nil)
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
}

private let arrival: Timestamp = 1_795_236_585_252

private func decoded(_ message: [UInt8], with decoder: inout FeedDecoder) -> Decoded {
    decoder.decode(message.span, receivedAt: arrival) { decoded, names in
        Decoded(
            readings: decoded.readings.map { reading in
                Decoded.Reading(name: reading.nameRange.map { names[$0] }, index: reading.index)
            }, refusals: decoded.refusals)
    }
}

/// - Parameter cities: how many there must be; nil = any number.
private func store(_ message: [UInt8], _ format: FeedFormat, cities: Int?) {
    let store = ReadingStore(
        rules: StoreRules(readingsHaveTimes: format.timeField != nil, hashSeed: 7), feeds: ["ws://feed.example/"],
        at: arrival)
    var decoder = FeedDecoder(format: format, hashSeed: 7)
    _ = decoder.decode(message.span, receivedAt: arrival) { store.record($0, names: $1, feed: 0) }
    let count = store.snapshot().cityCount
    expect(cities == nil || count == cities, "\(count) cities instead of \(cities ?? 0)")
    let document = HistoryDocument.render(store)
    expect(String(validating: document, as: UTF8.self) != nil, "UTF-8 of the history document")
}
