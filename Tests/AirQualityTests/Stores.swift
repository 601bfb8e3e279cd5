@testable import AirQuality

/// A store with one feed, and what tests ask of it.
struct TestStore: ~Copyable {
    let store: ReadingStore
    var decoder: FeedDecoder

    static let start: Timestamp = 1_795_236_585_252

    init(
        scale: Scale = .india, history: HistoryRule = HistoryRule(), cityLimit: Int = 1000,
        expireAfter: Int64 = 0, format: FeedFormat = FeedFormat(), feeds: [String] = ["ws://feed.example/"]
    ) {
        store = ReadingStore(
            rules: StoreRules(
                scale: scale, history: history, cityLimit: cityLimit, expireAfter: expireAfter,
                shard: format.shard, families: format.families),
            feeds: feeds, at: Self.start)
        decoder = FeedDecoder(format: format)
    }

    mutating func receive(_ message: String, at time: Timestamp = start) { receive(Array(message.utf8), at: time) }

    mutating func receive(_ message: [UInt8], at time: Timestamp = start) {
        let decoded = decoder.decode(message.span, receivedAt: time)
        store.record(decoded, feed: 0)
        decoder.recycle(decoded)
    }

    /// One city's reading.
    mutating func receive(_ city: String, _ index: Double, at time: Timestamp) {
        receive(#"[{"city":"\#(city)","aqi":\#(index)}]"#, at: time)
    }

    var rejections: [String: UInt64] {
        let counts = store.feeds[0].rejections
        var found: [String: UInt64] = [:]
        for reason in RejectionReason.allCases where counts[reason] > 0 { found[reason.rawValue] = counts[reason] }
        return found
    }

    /// Name and current index of every city, in the store's order.
    var cities: [String] {
        let snapshot = store.snapshot()
        return snapshot.states.indices.map { city in
            String(decoding: snapshot.states[city].name, as: UTF8.self) + " \(snapshot.states[city].index)"
        }
    }

    func state(of name: String) -> CityState? { city(name).map { store.snapshot().states[$0] } }

    func changes(of name: String) -> CategoryChanges? { city(name).map { store.snapshot().states[$0].changes } }

    /// Concentrations of a city that are known, with their names.
    func concentrations(of name: String) -> String {
        guard let city = city(name) else { return "no city" }
        let values = store.snapshot().states[city].extras?.concentrations ?? PollutantValues()
        return zip(PollutantValues.pollutants, PollutantValues.pollutants.indices)
            .compactMap { name, place in values[place].map { "\(name) \($0)" } }.joined(separator: ", ")
    }

    /// The points of a city, oldest first.
    func points(of name: String) -> [HistoryPoint] {
        guard let city = city(name) else { return [] }
        let history = store.snapshot(withHistories: true).histories[city]
        return (0..<history.count).map { history[$0] }
    }

    /// All cities as they survive a restart.
    var storedCities: [City] {
        let snapshot = store.snapshot(withHistories: true)
        return snapshot.states.indices.map { number in
            let state = snapshot.states[number]
            let history = snapshot.histories[number]
            return City(
                id: 0, name: state.name, index: state.index, updatedAt: state.updatedAt, receivedAt: state.receivedAt,
                changes: state.changes, points: (0..<history.count).map { history[$0] })
        }
    }

    /// The history as JSON.
    func history(_ query: HistoryQuery = HistoryQuery()) -> [UInt8] {
        HistoryDocument(store.snapshot(withHistories: true), query: query).render()
    }

    private func city(_ name: String) -> Int? { store.snapshot().find(Array(name.utf8)) }
}
