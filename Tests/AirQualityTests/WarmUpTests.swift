import Testing

@testable import AirQuality

@Suite("After a start") struct WarmUpTests {
    private static let start = TestStore.start

    private func store(warmUp: Int64 = 10_000, cityLimit: Int = 1000, expireAfter: Int64 = 0) -> ReadingStore {
        ReadingStore(
            rules: StoreRules(cityLimit: cityLimit, expireAfter: expireAfter, warmUp: warmUp),
            feeds: ["ws://feed.example/"], at: Self.start)
    }

    private func receive(_ cities: [String], in store: ReadingStore, after milliseconds: Int64) {
        var decoder = FeedDecoder(format: FeedFormat())
        let message = Array(("[" + cities.map { #"{"city":"\#($0)","aqi":7}"# }.joined(separator: ",") + "]").utf8)
        decoder.decode(message.span, receivedAt: Self.start + milliseconds) { _ = store.record($0, names: $1, feed: 0) }
    }

    private func progress(_ store: ReadingStore, after milliseconds: Int64) -> WarmUpProgress? {
        store.warmUp(at: Self.start + milliseconds)
    }

    @Test("the cities count as complete at once unless told otherwise") func none() {
        #expect(progress(store(warmUp: 0), after: 0) == nil)
    }

    @Test("the cities are complete when no new one has come for the time") func growth() {
        let store = store()
        // Before the first message nothing can have been complete.
        receive(["Pune"], in: store, after: 60_000)
        #expect(progress(store, after: 60_001) == WarmUpProgress(cityCount: 1, age: 1, unheardCount: nil))
        receive(["Pune", "Delhi"], in: store, after: 65_000)
        receive(["Pune"], in: store, after: 70_000)
        #expect(progress(store, after: 74_999) == WarmUpProgress(cityCount: 2, age: 9999, unheardCount: nil))
        #expect(progress(store, after: 75_000) == nil)
    }

    @Test("the cities stay complete when another one comes later") func laterCities() {
        let asked = store()
        receive(["Pune"], in: asked, after: 0)
        #expect(progress(asked, after: 10_000) == nil)
        receive(["Delhi"], in: asked, after: 10_001)
        #expect(progress(asked, after: 10_002) == nil)
        // Also where nobody asked meanwhile.
        let unasked = store()
        receive(["Pune"], in: unasked, after: 0)
        receive(["Delhi"], in: unasked, after: 10_000)
        #expect(progress(unasked, after: 10_001) == nil)
    }

    @Test("a feed that has said nothing yet is waited for, as long as it is not known to be paused") func silence() {
        #expect(progress(store(), after: 9999) == WarmUpProgress(cityCount: 0, age: 9999, unheardCount: nil))
        // Whether there is a feed at all is for others to say.
        #expect(progress(store(), after: 10_000) == nil)
    }

    @Test("a clock that is set back lengthens the wait, and no more") func clock() {
        let store = store()
        receive(["Pune"], in: store, after: 0)
        #expect(progress(store, after: -5000) == WarmUpProgress(cityCount: 1, age: 0, unheardCount: nil))
        #expect(progress(store, after: 10_000) == nil)
    }

    @Test("all of the restored cities heard of again are enough", arguments: [[], ["Surat"]])
    func restored(_ others: [String]) {
        let store = store(expireAfter: 3_600_000)
        store.restore(
            ["Pune", "Delhi", "Gone"].map { name in
                City(
                    id: 1, name: Array(name.utf8), index: 5, updatedAt: Self.start - 3_000_000,
                    receivedAt: Self.start - (name == "Gone" ? 3_599_000 : 3_000_000), category: 1)
            }, at: Self.start)
        #expect(progress(store, after: 1) == WarmUpProgress(cityCount: 3, age: 1, unheardCount: 3))
        receive(["Pune"] + others, in: store, after: 100)
        #expect(progress(store, after: 200) == WarmUpProgress(cityCount: 3 + others.count, age: 100, unheardCount: 2))
        // Nobody waits for what is dropped.
        #expect(store.expire(at: Self.start + 2000) == 1)
        receive(["Pune"], in: store, after: 2100)
        #expect(progress(store, after: 2200)?.unheardCount == 1)
        receive(["Delhi"], in: store, after: 2300)
        #expect(progress(store, after: 2400) == nil)
        receive(["Nashik"], in: store, after: 2500)
        #expect(progress(store, after: 2600) == nil)
    }

    @Test("cities that the limit refuses are no growth") func refused() {
        let store = store(cityLimit: 1)
        receive(["Pune", "Delhi"], in: store, after: 0)
        receive(["Surat"], in: store, after: 9000)
        #expect(progress(store, after: 10_000) == nil)
    }
}
