import Exposition

@testable import AirQuality

/// A store with one feed or more, and the page that it makes.
struct TestStore: ~Copyable {
    let store: ReadingStore
    var decoder: FeedDecoder

    static let start: Timestamp = 1_795_236_585_252

    init(
        scale: Scale = .india, cityLimit: Int = 1000, expireAfter: Int64 = 0, format: FeedFormat = FeedFormat(),
        feeds: [String] = ["ws://feed.example/"]
    ) {
        store = ReadingStore(
            rules: StoreRules(
                scale: scale, cityLimit: cityLimit, expireAfter: expireAfter, shard: format.shard,
                families: format.families),
            feeds: feeds, at: Self.start)
        decoder = FeedDecoder(format: format)
    }

    mutating func receive(_ message: String, at time: Timestamp = start) {
        store.record(decoder.decode(Array(message.utf8).span, receivedAt: time), feed: 0)
    }

    /// One city's reading.
    mutating func receive(_ city: String, _ index: Double, at time: Timestamp) {
        receive(#"[{"city":"\#(city)","aqi":\#(index)}]"#, at: time)
    }

    var rejections: [String: UInt64] {
        let counts = store.feeds[0].rejections
        let reasons = RejectionReason.allCases.filter { counts[$0] > 0 }
        return Dictionary(uniqueKeysWithValues: reasons.map { ($0.rawValue, counts[$0]) })
    }

    /// Name and current index of every city, in the store's order.
    var cities: [String] {
        let snapshot = store.snapshot()
        return snapshot.states.indices.map { city in
            String(decoding: snapshot.states[city].name, as: UTF8.self) + " \(snapshot.states[city].index)"
        }
    }

    /// Concentrations of a city that are known, with their names.
    func concentrations(of name: String) -> String {
        let snapshot = store.snapshot()
        guard let city = snapshot.find(Array(name.utf8)) else { return "no city" }
        let values = snapshot.states[city].extras?.concentrations ?? PollutantValues()
        return PollutantValues.pollutants.enumerated().compactMap { place, name in
            values[place].map { "\(name) \($0)" }
        }.joined(separator: ", ")
    }

    /// The page as a scrape of the store alone would get it.
    func page(_ format: ExpositionFormat = .text004) -> [UInt8] {
        Exposition(rules: store.rules).render(store.snapshot(), in: format) + format.end.utf8
    }

    func text(_ format: ExpositionFormat = .text004) -> String { String(decoding: page(format), as: UTF8.self) }

    /// Sample lines of a family.
    func lines(_ family: String) -> [String] {
        text().split(separator: "\n").filter { $0.hasPrefix(family + "{") }.map(String.init)
    }
}
