import AirQuality

/// A store with one feed that a test speaks for.
struct TestStore: ~Copyable {
    let store: ReadingStore
    private var decoder: FeedDecoder

    static let start: Timestamp = 1_795_236_585_252

    init(history: HistoryRule = HistoryRule(), format: FeedFormat = FeedFormat()) {
        store = ReadingStore(
            rules: StoreRules(history: history, families: format.families), feeds: ["ws://feed.example/"],
            at: Self.start)
        decoder = FeedDecoder(format: format)
    }

    mutating func receive(_ message: String, at time: Timestamp = start) {
        store.record(decoder.decode(Array(message.utf8).span, receivedAt: time), feed: 0)
    }
}
