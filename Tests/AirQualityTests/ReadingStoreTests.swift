import Synchronization
import TestSupport
import Testing

@testable import AirQuality

struct ReadingStoreTests {
    /// A page of a version is not rendered again, and a city of a version that is saved is not saved again.
    @Test func `The store's version changes with each part of a message`() {
        var test = TestStore()
        let text = Array(#"[{"city":"Pune","aqi":7},{"city":"Delhi","aqi":300}]"#.utf8)
        var message = test.decoder.decode(text.span, receivedAt: TestStore.start)
        let versions = test.store.state.withLock { state in
            (0..<2).map { place in
                state.record(place..<place + 1, of: &message, feed: 0)
                return state.version
            }
        }
        #expect(versions[0] < versions[1])
        #expect(test.state(of: "Pune")?.version == versions[0])
        #expect(test.state(of: "Delhi")?.version == versions[1])
    }

    @Test func `The store compares and sorts names by their bytes`() {
        var test = TestStore()
        // Two spellings of é that are equal to Swift's String.
        test.receive(
            "[{\"city\":\"Caf\u{E9}\",\"aqi\":1},{\"city\":\"Cafe\u{301}\",\"aqi\":2},{\"city\":\"Cafz\",\"aqi\":3},{\"city\":\"caf\",\"aqi\":4},{\"city\":\"Ca\",\"aqi\":5}]"
        )
        #expect(
            test.cities.map { Array($0.utf8) }
                == ["Ca 5.0", "Cafe\u{301} 2.0", "Cafz 3.0", "Caf\u{E9} 1.0", "caf 4.0"].map { Array($0.utf8) })
    }

    @Test func `The store counts changes of category and remembers the last one`() {
        var test = TestStore()
        for (step, aqi) in [50, 50.9, 51, 60, 49, 300, 10].enumerated() {
            test.receive("Pune", aqi, at: TestStore.start + Int64(step) * 1000)
        }
        // 1 → 2 → 1 → 4 → 1
        let changes = test.changes(of: "Pune")
        #expect(changes?.better == 2)
        #expect(changes?.worse == 2)
        #expect(changes?.direction == 1)
        #expect(changes?.changedAt == TestStore.start + 6000)
        test.receive("Pune", 60, at: TestStore.start + 7000)
        #expect(test.changes(of: "Pune")?.direction == -1)
        test.receive("Delhi", 60, at: TestStore.start)
        #expect(test.changes(of: "Delhi") == CategoryChanges())
    }

    @Test func `The store rejects cities beyond the limit, and names the first ten once`() {
        var test = TestStore(cityLimit: 3)
        let message = "[" + (0..<20).map { #"{"city":"City \#($0)","aqi":1}"# }.joined(separator: ",") + "]"
        #expect(test.record(message).namesBeyondLimit == (3..<13).map { "City \($0)" })
        #expect(test.record(message).namesBeyondLimit.isEmpty)
        #expect(test.cities == ["City 0 1.0", "City 1 1.0", "City 2 1.0"])
        #expect(test.rejections == ["city_limit": 34])
    }

    @Test func `A restored city may have any arrival time`() {
        let store = TestStore(feeds: ["a"]).store
        let city = City(id: 0, name: Array("Pune".utf8), aqi: 1, updatedAt: 1, receivedAt: .min, points: [])
        store.restore([city], at: TestStore.start)
        store.moveArrivals(at: TestStore.start, by: -1000, elapsed: 1000)
        #expect(TestStore.start - store.snapshot().states[0].receivedAt > 0)
    }

    @Test func `A feed that was removed while paused is not paused when it is added again`() {
        let store = TestStore(feeds: ["a"]).store
        store.apply(.paused, feed: 0)
        store.removeFeed(0, at: TestStore.start)
        let feed = store.setFeed(label: "a", idleTimeout: 0)
        #expect(!store.feeds[feed].isPaused)
    }

    @Test func `A changed feed leaves neither its source and last problem nor details of its cities`() {
        var test = TestStore(format: FeedFormat(pollutantsField: "p"))
        test.store.apply(.connected(FeedSource(name: "waqi")), feed: 0)
        test.store.apply(.disconnected("requested", detail: "shutting down"), feed: 0)
        test.receive(#"{"city":"Pune","aqi":40,"p":{"o3":1}}"#)
        #expect(test.concentrations(of: "Pune") == "o3 1.0")
        _ = test.store.setFeed(label: test.store.feeds[0].label, idleTimeout: 0)
        #expect(test.store.feeds.allSatisfy { $0.source == nil && $0.lastProblem == nil })
        #expect(test.cities == ["Pune 40.0"] && test.concentrations(of: "Pune").isEmpty)
    }

    @Test func `A removed feed takes its cities along, except those that another feed sends`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat())
        for label in ["a", "b"] { _ = store.setFeed(label: label, idleTimeout: 60_000) }
        func receive(_ cities: String..., feed: Int) {
            let text = "[" + cities.map { #"{"city":"\#($0)","aqi":1}"# }.joined(separator: ",") + "]"
            store.record(decoder.decode(Array(text.utf8).span, receivedAt: TestStore.start), feed: feed)
        }
        func cities() -> [String] {
            store.snapshot().states.map { String(decoding: $0.name + Array(" of ".utf8) + $0.feedLabel, as: UTF8.self) }
        }
        receive("Pune", "Delhi", "Surat", feed: 0)
        receive("Delhi", "Goa", feed: 1)
        receive("Delhi", feed: 0)
        #expect(cities() == ["Delhi of a", "Goa of b", "Pune of a", "Surat of a"])
        store.removeFeed(0, at: TestStore.start)
        #expect(cities() == ["Delhi of b", "Goa of b"])
        let snapshot = store.snapshot(withHistories: true)
        #expect(snapshot.pointCount == 2 && snapshot.expiredCount == 0)
    }

    @Test func `A city keeps its feed until that has been without it for its idle time-out`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat())
        for label in ["a", "b"] { _ = store.setFeed(label: label, idleTimeout: 60_000) }
        func feed(after feed: Int, at second: Int64) -> String {
            let message = Array(#"{"city":"Pune","aqi":1}"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: TestStore.start + second * 1000), feed: feed)
            return String(decoding: store.snapshot().states[0].feedLabel, as: UTF8.self)
        }
        #expect(feed(after: 0, at: 0) == "a" && feed(after: 1, at: 1) == "a" && feed(after: 1, at: 60) == "a")
        #expect(feed(after: 1, at: 61) == "b" && feed(after: 0, at: 62) == "b")
    }

    @Test func `A restored city keeps its feed and place, and its feed has its idle time-out to return`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat())
        for label in ["a", "b"] { _ = store.setFeed(label: label, idleTimeout: 60_000) }
        let place = CityPlace(country: Array("IN".utf8).span, latitude: 18.5, longitude: 73.9)
        let city = City(
            id: 0, name: Array("Pune".utf8), aqi: 1, updatedAt: 1, receivedAt: 1, feedLabel: Array("a".utf8),
            place: place)
        store.restore([city], at: TestStore.start)
        #expect(store.cities.map(\.place) == [place])
        for (second, label) in [(0, "a"), (60, "a"), (61, "b")] as [(Int64, String)] {
            let message = Array(#"{"city":"Pune","aqi":1}"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: TestStore.start + second * 1000), feed: 1)
            #expect(store.cities.map(\.feedLabel) == [Array(label.utf8)])
        }
    }

    @Test func `A removed feed takes restored cities along that it has not sent again`() {
        let store = TestStore(feeds: ["a", "b"]).store
        let cities = ["a", "b", ""].map { label in
            City(
                id: 0, name: Array("Pune \(label)!".utf8), aqi: 1, updatedAt: 1, receivedAt: 1,
                feedLabel: Array(label.utf8))
        }
        store.restore(cities, at: TestStore.start)
        store.removeFeed(0, at: TestStore.start)
        #expect(store.cities.map(\.feedLabel) == [[], Array("b".utf8)])
    }

    @Test func `A changed feed leaves details of its cities that another feed has sent`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat(pollutantsField: "p"))
        for (feed, text) in [#"[{"city":"Pune","aqi":1,"p":{"o3":1}}]"#, #"[{"city":"Pune","aqi":2}]"#].enumerated() {
            _ = store.record(decoder.decode(Array(text.utf8).span, receivedAt: TestStore.start), feed: feed)
        }
        _ = store.setFeed(label: "b", idleTimeout: 1)
        #expect(store.snapshot().states[0].extras != nil)
        store.removeFeed(0, at: TestStore.start)
        #expect(store.snapshot().states.map(\.extras).allSatisfy { $0 == nil } && store.snapshot().cityCount == 1)
    }

    @Test func `Duplicates of a city in a message or from two feeds are counted, and named once`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat())
        let one = store.setFeed(label: "a", idleTimeout: 60_000)
        let other = store.setFeed(label: "b", idleTimeout: 60_000)
        var named: [String] = []
        func receive(_ cities: [String], feed: Int, second: Int64) -> Int {
            let text = "[" + cities.map { #"{"city":"\#($0)","aqi":1}"# }.joined(separator: ",") + "]"
            let message = decoder.decode(Array(text.utf8).span, receivedAt: TestStore.start + second * 1000)
            let recorded = store.record(message, feed: feed)
            named += recorded.duplicateNames
            return recorded.duplicates
        }
        #expect(receive(["Pune", "Delhi"], feed: one, second: 0) == 0)
        #expect(receive(["Pune", "Delhi"], feed: one, second: 1) == 0)
        #expect(receive(["Pune", "Delhi", "Pune"], feed: one, second: 2) == 1)
        #expect(receive(["Pune", "Surat"], feed: other, second: 3) == 1)
        #expect(named == ["Pune"])
        #expect(receive(["Pune"], feed: one, second: 4) == 1)
        // The first feed has been silent for its idle time-out: the second one has taken over.
        #expect(receive(["Pune", "Delhi"], feed: other, second: 65) == 0)
        #expect(receive(["Delhi"], feed: one, second: 125) == 1)
        #expect(named == ["Pune", "Delhi"])
        #expect(store.feeds.map(\.duplicates) == [3, 1])
        // A feed that reuses another's number does not inherit its cities.
        store.removeFeed(one, at: TestStore.start)
        _ = store.setFeed(label: "c", idleTimeout: 60_000)
        #expect(receive(["Delhi"], feed: other, second: 126) == 0)
    }

    @Test func `Of many cities that come twice in a message, ten are named and all are counted, once`() {
        let store = TestStore(feeds: ["a"]).store
        var decoder = FeedDecoder(format: FeedFormat())
        func counts(cities: Int) -> [Int] {
            let elements = (0..<cities).map { #"{"city":"City \#($0)","aqi":1}"# }
            let text = "[" + (elements + elements).joined(separator: ",") + "]"
            let message = store.record(decoder.decode(Array(text.utf8).span, receivedAt: TestStore.start), feed: 0)
            return [message.duplicateNames.count, message.duplicateCityCount, message.duplicates]
        }
        #expect(counts(cities: 500) == [10, 500, 500])
        #expect(counts(cities: 503) == [3, 3, 503])
    }

    @Test func `A city belongs to a feed that repeats its reading, also after a step of the clock`() {
        let store = TestStore(feeds: ["a", "b"]).store
        var decoder = FeedDecoder(format: FeedFormat(timeField: "t"))
        for label in ["a", "b"] { _ = store.setFeed(label: label, idleTimeout: 60_000) }
        func receive(feed: Int, second: Int64) -> Int {
            let text = Array(#"{"city":"Pune","aqi":1,"t":\#(TestStore.start)}"#.utf8)
            return store.record(decoder.decode(text.span, receivedAt: TestStore.start + second * 1000), feed: feed)
                .duplicates
        }
        for second in [0, 50] as [Int64] { #expect(receive(feed: 0, second: second) == 0) }
        store.moveArrivals(at: TestStore.start + 3_655_000, by: 3_600_000, elapsed: 400)
        #expect(receive(feed: 1, second: 3700) == 1)
    }

    @Test func `A reading with the same time changes the AQI but renews neither arrival nor expiry`() {
        var test = TestStore(expireAfter: 60_000, format: FeedFormat(timeField: "time", pollutantsField: "p"))
        func message(_ aqi: Int) -> String {
            #"{"city":"Pune","aqi":\#(aqi),"time":\#(TestStore.start),"p":{"o3":\#(aqi)}}"#
        }
        test.receive(message(40), at: TestStore.start)
        test.receive(message(60), at: TestStore.start + 50_000)
        #expect(test.cities == ["Pune 60.0"] && test.state(of: "Pune")?.category == 2)
        #expect(test.points(of: "Pune").map(\.aqi) == [60] && test.concentrations(of: "Pune") == "o3 60.0")
        #expect(test.state(of: "Pune")?.receivedAt == TestStore.start)
        #expect(test.store.expire(at: TestStore.start + 60_001) == 1)
        // Nor does it bring an expired city back until its time is newer.
        test.receive(message(60), at: TestStore.start + 61_000)
        #expect(test.cities.isEmpty && test.store.feeds[0].readings == 3 && test.rejections.isEmpty)
        test.receive(#"{"city":"Pune","aqi":9,"time":\#(TestStore.start - 1)}"#, at: TestStore.start + 61_000)
        #expect(test.cities.isEmpty && test.rejections == ["bad_time": 1])
        test.receive(#"{"city":"Pune","aqi":9,"time":\#(TestStore.start + 1)}"#, at: TestStore.start + 61_000)
        #expect(test.cities == ["Pune 9.0"])
    }

    /// A time from the feed that happens to equal the arrival is still a time from the feed.
    @Test func `Times from the feed keep their order even if one equals the arrival`() {
        var test = TestStore(format: FeedFormat(timeField: "time"))
        test.receive(#"{"city":"Pune","aqi":1,"time":\#(TestStore.start + 10)}"#, at: TestStore.start)
        test.receive(#"{"city":"Pune","aqi":2,"time":\#(TestStore.start)}"#, at: TestStore.start)
        #expect(test.cities == ["Pune 1.0"] && test.rejections == ["bad_time": 1])
        test.receive(#"{"city":"Pune","aqi":3}"#, at: TestStore.start)
        #expect(test.cities == ["Pune 3.0"])
    }

    @Test func `Cities expire by their arrival and are forgotten entirely`() {
        var test = TestStore(cityLimit: 2, expireAfter: 60_000)
        test.receive("Pune", 1, at: TestStore.start)
        test.receive("Delhi", 2, at: TestStore.start + 30_000)
        #expect(test.store.expire(at: TestStore.start + 60_000) == 0)
        #expect(test.store.expire(at: TestStore.start + 60_001) == 1)
        #expect(test.cities == ["Delhi 2.0"])
        #expect(test.store.snapshot().expiredCount == 1)
        // There is room again, and a city that returns starts afresh.
        test.receive("Surat", 3, at: TestStore.start + 70_000)
        test.receive("Pune", 300, at: TestStore.start + 70_000)
        #expect(test.cities == ["Delhi 2.0", "Surat 3.0"])
        #expect(test.store.expire(at: TestStore.start + 120_000) == 1)
        test.receive("Pune", 300, at: TestStore.start + 121_000)
        #expect(test.points(of: "Pune").count == 1)
        #expect(test.changes(of: "Pune") == CategoryChanges())
    }

    @Test func `A late reading of an expired city is not called one beyond the limit`() {
        var test = TestStore(cityLimit: 1, expireAfter: 1000, format: FeedFormat(timeField: "t"))
        func message(_ city: String, _ second: Int64) -> String {
            #"{"city":"\#(city)","aqi":1,"t":\#(TestStore.start / 1000 - second)}"#
        }
        test.receive(message("Pune", 10))
        #expect(test.store.expire(at: TestStore.start + 1001) == 1)
        test.receive(message("Delhi", 5))
        test.receive(message("Pune", 11))
        test.receive(message("Pune", 10))
        #expect(test.rejections == ["bad_time": 1])
        test.receive(message("Pune", 9))
        #expect(test.rejections == ["bad_time": 1, "city_limit": 1])
    }

    @Test func `The store closes the windows of all cities, however many there are`() {
        var test = TestStore(history: HistoryRule(interval: 30_000, keep: .last), cityLimit: 100_000)
        let count = 5000
        test.receive("[" + (0..<count).map { #"{"city":"\#($0)","aqi":1}"# }.joined(separator: ",") + "]")
        test.store.closeWindows(at: TestStore.start + 60_000)
        #expect(test.store.snapshot().pointCount == count)
    }

    @Test func `The store reports whether its lock is free without waiting for it`() {
        let store = TestStore().store
        #expect(store.isUnlocked)
        store.state.withLock { _ in #expect(!store.isUnlocked) }
        #expect(store.isUnlocked)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `A whole message has the same effect as its readings one by one`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var whole = TestStore(cityLimit: 100)
        var single = TestStore(cityLimit: 100)
        for step in 0..<30 {
            let time = TestStore.start + Int64(step) * 20_000
            // Duplicate and new cities, more than there is room for, and indices that are rejected.
            let elements = (0..<Int.random(in: 1...500, using: &random)).map { _ in
                let city = Int.random(in: 0..<(step * 6 + 5), using: &random)
                let aqi = Int.random(in: 0..<110, using: &random) * Int.random(in: 1...100, using: &random)
                return #"{"city":"City \#(city)","aqi":\#(aqi)}"#
            }
            whole.receive("[" + elements.joined(separator: ",") + "]", at: time)
            for element in elements { single.receive("[\(element)]", at: time) }
            #expect(whole.cities == single.cities)
            #expect(whole.rejections == single.rejections)
            for number in 0..<200 {
                let city = "City \(number)"
                #expect(whole.changes(of: city) == single.changes(of: city))
                #expect(whole.points(of: city) == single.points(of: city))
                #expect(whole.state(of: city)?.category == single.state(of: city)?.category)
            }
        }
    }

    /// Cities come and go in any order; a dictionary has the expected ones.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `The store has exactly the cities that have not expired, in the order of names`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var test = TestStore(cityLimit: 100_000, expireAfter: 1000)
        var expected: [String: (aqi: Double, at: Timestamp)] = [:]
        var now = TestStore.start
        for _ in 0..<40 {
            now += 100
            let elements = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                let name = "\(Int.random(in: 0..<3000, using: &random) * 7_777_777)"
                let aqi = Double(Int.random(in: 0...500, using: &random))
                expected[name] = (aqi, now)
                return #"{"city":"\#(name)","aqi":\#(Int(aqi))}"#
            }
            test.receive("[" + elements.joined(separator: ",") + "]", at: now)
            let oldest = now - 1000
            expected = expected.filter { $0.value.at >= oldest }
            _ = test.store.expire(at: now)
            let lines = expected.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            #expect(test.cities == lines.map { "\($0.key) \($0.value.aqi)" })
            #expect(test.store.snapshot().cityCount == expected.count)
        }
    }

    @Test func `A snapshot does not change with the store`() {
        var test = TestStore()
        test.receive("Pune", 1, at: TestStore.start)
        let snapshot = test.store.snapshot(withHistories: true)
        test.receive(#"[{"city":"Pune","aqi":2},{"city":"Delhi","aqi":3}]"#, at: TestStore.start + 1)
        #expect(snapshot.states.map(\.aqi) == [1])
        #expect(snapshot.histories[0].points.count == 1)
        #expect(test.points(of: "Pune").count == 2)
    }

    @Test(arguments: [3_600_000, -3_600_000] as [Int64])
    func `A step of the clock makes no city expire`(step: Int64) {
        var test = TestStore(expireAfter: 60_000)
        test.receive("Old", 1, at: TestStore.start)
        test.receive("Young", 1, at: TestStore.start + 30_000)
        // The clock is set, and a message arrives before the step is noticed.
        let now = TestStore.start + 30_500 + step
        test.receive("New", 1, at: now - 100)
        test.store.moveArrivals(at: now, by: step, elapsed: 400)
        #expect(test.store.expire(at: now) == 0)
        #expect(test.store.expire(at: TestStore.start + step + 60_001) == 1)
        #expect(test.store.expire(at: TestStore.start + step + 90_001) == 1)
        #expect(test.cities == ["New 1.0"])
        #expect(test.store.expire(at: TestStore.start + step + 90_401) == 1)
    }

    @Test func `Readings in the future move to the present when the clock is set back`() {
        var test = TestStore(expireAfter: 60_000, format: FeedFormat(timeField: "time"))
        func message(_ aqi: Int, _ time: Timestamp) -> String { #"{"city":"Pune","aqi":\#(aqi),"time":\#(time)}"# }
        test.receive(message(1, TestStore.start), at: TestStore.start)
        let now = TestStore.start - 3_600_000
        test.receive(message(2, now), at: now + 1)
        #expect(test.rejections == ["bad_time": 1])
        test.store.moveArrivals(at: now, by: -3_600_000, elapsed: 400)
        #expect(test.state(of: "Pune")?.updatedAt == now)
        #expect(test.store.feeds[0].lastMessageAt == now && test.store.feeds[0].lastReadingAt == now)
        test.receive(message(3, now + 1000), at: now + 1000)
        #expect(test.cities == ["Pune 3.0"] && test.points(of: "Pune").map(\.aqi) == [3])
        #expect(test.store.expire(at: now + 61_001) == 1)
    }

    @Test func `A store restores saved cities with their original times`() {
        var test = TestStore(history: HistoryRule(capacity: 4, interval: 0))
        for step in 0..<6 {
            test.receive("Pune", step == 3 ? 200 : 40, at: TestStore.start + Int64(step))
            test.receive("Bhubaneswar \"é\"", 100, at: TestStore.start)
        }
        let saved = test.store.cities
        var restored = TestStore(history: HistoryRule(capacity: 4, interval: 0))
        restored.store.restore(saved, at: TestStore.start + 5)
        #expect(restored.cities == test.cities)
        #expect(restored.points(of: "Pune") == test.points(of: "Pune"))
        #expect(restored.changes(of: "Pune") == test.changes(of: "Pune"))
        #expect(restored.points(of: "Bhubaneswar \"é\"") == test.points(of: "Bhubaneswar \"é\""))
        // A clock that is behind at the start may be set right later.
        let early = TestStore()
        early.store.restore(saved, at: TestStore.start - 3_600_000)
        let again = TestStore()
        again.store.restore(early.store.cities, at: TestStore.start)
        #expect(again.changes(of: "Pune") == test.changes(of: "Pune"))
        // A third point waits for the interval, as if there had been no restart.
        var slow = TestStore()
        slow.store.restore(saved, at: TestStore.start + 5)
        slow.receive("Pune", 1, at: TestStore.start + 29_000)
        #expect(slow.points(of: "Pune").last?.time == TestStore.start + 5)
        slow.receive("Pune", 1, at: TestStore.start + 30_005)
        #expect(slow.points(of: "Pune").last?.time == TestStore.start + 30_005)
        restored.receive("Pune", 41, at: TestStore.start + 9)
        #expect(restored.points(of: "Pune").map(\.time) == [3, 4, 5, 9].map { TestStore.start + $0 })
    }
}
