import JSON

@testable import AirQuality

/// A message of a feed: decoded the short way and the strict way, and taken into a store. Both ways must agree; what is
/// accepted must keep to the rules of readings; what is shown must have what was accepted.
public func checkMessages(_ message: [UInt8]) {
    // With a third member to look for, no message takes the short way. This one is in no message.
    if message.contains(0x01) { return }
    let short = decoded(message, FeedFormat())
    let strict = decoded(message, FeedFormat(timeField: "\u{1}"))
    expect(short == strict, "\(short) and \(strict)")
    for reading in short.readings {
        expect((1...128).contains(reading.name.count), "name \(reading.name)")
        expect(String(validating: reading.name, as: UTF8.self) != nil, "UTF-8 of \(reading.name)")
        expect(reading.isOutOfRange || (0...9999).contains(reading.index), "index \(reading.index)")
        expect(!reading.name.contains { $0 < 0x20 || $0 == 0x7F }, "control character in \(reading.name)")
    }
    store(message, FeedFormat(), cities: Set(short.readings.filter { !$0.isOutOfRange }.map(\.name)).count)
    store(message, FeedFormat(items: JSONPointer("/a/0")!, timeField: "t"), cities: nil)
}

private struct Decoded: Equatable {
    struct Reading: Equatable {
        var name: [UInt8]
        var index: Double
        var isOutOfRange: Bool
    }

    var readings: [Reading] = []
    var refusals: [RefusalReason] = []
}

private let arrival: Timestamp = 1_795_236_585_252

private func decoded(_ message: [UInt8], _ format: FeedFormat) -> Decoded {
    var decoder = FeedDecoder(format: format, hashSeed: 7)
    decoder.decode(message.span, receivedAt: arrival)
    var result = Decoded(refusals: decoder.refusals)
    let readings = decoder.readings
    decoder.withBytes { bytes in
        for reading in readings {
            result.readings.append(
                Decoded.Reading(
                    name: reading.nameRange.map { bytes[$0] }, index: reading.isOutOfRange ? 0 : reading.index,
                    isOutOfRange: reading.isOutOfRange))
        }
    }
    return result
}

/// - Parameter cities: how many there must be; nil = any number.
private func store(_ message: [UInt8], _ format: FeedFormat, cities: Int?) {
    let store = ReadingStore(
        rules: StoreRules(readingsHaveTimes: format.timeField != nil, hashSeed: 7), feeds: ["ws://feed.example/"],
        at: arrival)
    var decoder = FeedDecoder(format: format, hashSeed: 7)
    _ = store.record(message.span, with: &decoder, feed: 0, receivedAt: arrival)
    let count = store.snapshot().cityCount
    expect(cities == nil || count == cities, "\(count) cities instead of \(cities ?? 0)")
    let document = HistoryDocument.render(store)
    expect(String(validating: document, as: UTF8.self) != nil, "UTF-8 of the history document")
}
