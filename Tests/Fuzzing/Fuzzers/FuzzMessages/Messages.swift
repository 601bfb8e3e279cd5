import Bytes
import Expectations
import Exposition
import JSON
import Synchronization

@testable import AirQuality

/// Decodes a message of a feed and records it. The result must not depend on earlier messages, accepted readings must
/// keep to the rules, and the output must have what was accepted.
func checkMessages(_ message: [UInt8]) {
    decoders.withLock { decoders in
        // After the previous input.
        let first = decoded(message, with: &decoders.plain)
        _ = decoded(messagesBefore[message.count % messagesBefore.count], with: &decoders.other)
        let again = decoded(message, with: &decoders.other)
        expect(first == again, "\(first) and \(again)")
        for reading in first.readings {
            expect((1...CityName.maximumCount).contains(reading.name.count), "name \(reading.name)")
            expect(String(validating: reading.name, as: UTF8.self) != nil, "UTF-8 of \(reading.name)")
            expect(!reading.name.contains { $0 < 0x20 || $0 == 0x7F }, "control character in \(reading.name)")
            expect(!reading.aqi.isNaN, "no number")
        }
        if !first.readings.isEmpty {
            let accepted = first.readings.filter { (0...AQIRange.maximum).contains($0.aqi) }
            let cities = Set(accepted.map(\.name)).count
            store(message, plainFormat, &decoders.plain, cities: cities)
            // Concentrations do not change the readings, and are shown as numbers.
            let others = decoded(message, with: &decoders.concentrations)
            expect(others == first, "\(others) with concentrations, \(first) without")
            if others.hasConcentrations {
                store(message, concentrationsFormat, &decoders.concentrations, cities: cities)
            }
        }
        if !decoded(message, with: &decoders.inner).readings.isEmpty {
            store(message, innerFormat, &decoders.inner, cities: nil)
        }
    }
}

private let plainFormat = FeedFormat()
private let concentrationsFormat = FeedFormat(pollutantsField: "pollutants")
private let innerFormat = FeedFormat(items: jsonPointer("/a/0")!, timeField: "t")

/// Shared by all inputs, because making a decoder takes longer than most messages.
private struct Decoders: ~Copyable {
    var plain = FeedDecoder(format: plainFormat)
    /// A decoder that has just read another message.
    var other = FeedDecoder(format: plainFormat)
    var concentrations = FeedDecoder(format: concentrationsFormat)
    var inner = FeedDecoder(format: innerFormat)
}

private let decoders = Mutex(Decoders())

/// Longer and shorter messages, and some that leave a parser in the middle.
private let messagesBefore = [
    "[" + String(repeating: #"{"city":"Pune","aqi":1},"#, count: 20) + "{}]", "[]", #"[{"city":"Pune","aqi":"#, "7",
    String(repeating: "[", count: 600),
].map { Array($0.utf8) }

private struct Decoded: Equatable {
    struct Reading: Equatable {
        var name: [UInt8]
        var aqi: Double
    }

    var readings: [Reading] = []
    var rejections = RejectionCounts()
    var hasConcentrations = false

    static func == (one: Self, other: Self) -> Bool {
        one.readings == other.readings && one.rejections == other.rejections
    }
}

private let arrival: Timestamp = 1_795_236_585_252

private func decoded(_ message: [UInt8], with decoder: inout FeedDecoder) -> Decoded {
    var decoded = Decoded()
    let message = decoder.decode(message.span, receivedAt: arrival)
    for reading in message.readings {
        decoded.readings.append(.init(name: Array(message.names[reading.nameRange]), aqi: reading.aqi))
    }
    decoded.rejections = message.rejections
    decoded.hasConcentrations = message.extras.contains { $0 != nil }
    decoder.recycle(message)
    return decoded
}

/// - Parameter cities: the expected number of cities; `nil` for any number.
private func store(_ message: [UInt8], _ format: FeedFormat, _ decoder: inout FeedDecoder, cities: Int?) {
    let store = ReadingStore(rules: StoreRules(), feeds: ["ws://feed.example/"], at: arrival)
    store.record(decoder.decode(message.span, receivedAt: arrival), feed: 0)
    let count = store.snapshot().cityCount
    expect(cities == nil || count == cities, "\(count) cities instead of \(cities ?? 0)")
    if !format.pollutants.isEmpty {
        var text: [UInt8] = []
        Exposition().render(store.snapshot(), in: .text004, to: &text)
        let family = Array("airquality_concentration_ugm3{".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: family) {
            let number = line.suffix(from: line.lastIndex(of: UInt8(ascii: " "))! + 1)
            let value = Double(String(decoding: number, as: UTF8.self)) ?? -1
            expect(Pollutant.isConcentration(value), "concentration \(value)")
        }
    }
    let document = HistoryDocument(store.snapshot(withHistories: true), query: HistoryQuery()).render()
    expect(String(validating: document, as: UTF8.self) != nil, "UTF-8 of the history document")
}
