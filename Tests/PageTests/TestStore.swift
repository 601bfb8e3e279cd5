import AirQuality

/// A store with one feed that a test speaks for.
struct TestStore: ~Copyable {
    let store: ReadingStore
    var decoder: FeedDecoder

    static let start: Timestamp = 1_795_236_585_252

    init(history: HistoryRule = HistoryRule(), cityLimit: Int = 1000, format: FeedFormat = FeedFormat()) {
        store = ReadingStore(
            rules: StoreRules(
                scale: .india, history: history, cityLimit: cityLimit, expireAfter: 0, families: format.families),
            feeds: ["ws://feed.example/"], at: Self.start)
        decoder = FeedDecoder(format: format)
    }

    mutating func receive(_ message: String, at time: Timestamp = start) {
        store.record(decoder.decode(Array(message.utf8).span, receivedAt: time), feed: 0)
    }

    /// One city's reading.
    mutating func receive(_ city: String, _ index: Double, at time: Timestamp) {
        receive(#"[{"city":"\#(city)","aqi":\#(index)}]"#, at: time)
    }
}
