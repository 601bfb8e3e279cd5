package import AirQuality

/// A store with one or more feeds, with helpers for tests.
package struct TestStore: ~Copyable {
    package let store: ReadingStore
    package var decoder: FeedDecoder

    package static let start: Timestamp = 1_795_236_585_252

    package init(
        scale: Scale = .india, history: HistoryRule = HistoryRule(), cityLimit: Int = 1000,
        expireAfter: Int64 = 0, format: FeedFormat = FeedFormat(), feeds: [String] = ["ws://feed.example/"]
    ) {
        store = ReadingStore(
            rules: StoreRules(
                scale: scale, history: history, cityLimit: cityLimit, expireAfter: expireAfter,
                disconnectReasons: [
                    "closed", "lost", "refused", "resolve", "tls", "handshake", "timeout", "pong_timeout", "idle",
                    "protocol",
                    "requested", "paused",
                ]),
            feeds: feeds, at: Self.start)
        decoder = FeedDecoder(format: format)
    }

    package mutating func receive(_ message: String, at time: Timestamp = start) {
        receive(Array(message.utf8), at: time)
    }

    package mutating func receive(_ message: [UInt8], at time: Timestamp = start) {
        let decoded = decoder.decode(message.span, receivedAt: time)
        decoder.recycle(store.record(decoded, feed: 0))
    }

    package mutating func record(_ message: String) -> FeedMessage {
        store.record(decoder.decode(Array(message.utf8).span, receivedAt: Self.start), feed: 0)
    }

    /// Receives one city's reading.
    package mutating func receive(_ city: String, _ aqi: Double, at time: Timestamp) {
        receive(#"[{"city":"\#(city)","aqi":\#(aqi)}]"#, at: time)
    }

    package var rejections: [String: UInt64] {
        let counts = store.feeds[0].rejections
        let reasons = RejectionReason.allCases.filter { counts[$0] > 0 }
        return Dictionary(uniqueKeysWithValues: reasons.map { ($0.rawValue, counts[$0]) })
    }

    /// The name and the current index of every city, in the store's order.
    package var cities: [String] {
        store.snapshot().states.map { String(decoding: $0.name, as: UTF8.self) + " \($0.aqi)" }
    }

    /// The known concentrations of a city, with their names.
    package func concentrations(of name: String) -> String {
        let snapshot = store.snapshot()
        guard let city = snapshot.find(Array(name.utf8)) else { return "no city" }
        let values = snapshot.states[city].extras?.concentrations
        return PollutantValues.pollutants.enumerated().compactMap { place, name in
            values?[place].map { "\(name) \($0)" }
        }.joined(separator: ", ")
    }
}

extension ReadingStore {
    /// All cities as a clean shutdown saves them, by name.
    package var cities: [City] {
        let snapshot = snapshot(withHistories: true)
        return snapshot.states.indices.map { number in
            let state = snapshot.states[number]
            return City(
                id: 0, name: state.name, aqi: state.aqi, updatedAt: state.updatedAt, receivedAt: state.receivedAt,
                changes: state.changes, feedLabel: state.feedLabel, place: state.extras?.place,
                points: snapshot.histories[number].points)
        }
    }
}
