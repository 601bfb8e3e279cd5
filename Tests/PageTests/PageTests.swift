import AirQuality
import TestSupport
import Testing

@testable import Page

struct PageTests {
    private static let settings = PageSettings(
        version: "1.2.3", assets: "assets/0/", grafanaURL: "https://grafana.example",
        paths: [(path: "/metrics", isLink: true, meaning: "metrics for Prometheus")], isLifecycleEnabled: true)

    /// Some cities with a history, one with a name like markup.
    private static func store() -> TestStore {
        var store = TestStore(history: HistoryRule(interval: 0))
        for (second, city, aqi) in [
            (0, "Delhi", 290), (60, "Delhi", 318.9), (100, "Indore", 52), (120, "Delhi", 418.61), (121, "Mumbai", 152),
            (122, "Indore", 50.996), (123, "</script><img src=x onerror=alert(1)>", 77), (124, "القاهرة", 260),
            (125, "..", 5),
        ] as [(Int64, String, Double)] {
            store.receive(#"[{"city":"\#(city)","aqi":\#(aqi)}]"#, at: TestStore.start + second * 1000)
        }
        return store
    }

    private static let now = TestStore.start + 130_000

    private static func page(_ test: borrowing TestStore, isStale: Bool = false) -> Page {
        if !isStale { test.store.apply(.connected(nil), feed: 0) }
        return page(test.store)
    }

    private static func page(_ store: ReadingStore) -> Page {
        Page(settings, store.snapshot(withHistories: true), at: now)
    }

    private static func list(_ query: String = "", isStale: Bool = false) throws -> [UInt8] {
        try page(store(), isStale: isStale).list(query)
    }

    private static func city(_ name: String, _ query: String = "") throws -> [UInt8]? {
        try page(store()).city(Array(name.utf8), query)
    }

    private func text(_ page: [UInt8]) -> String { String(decoding: page, as: UTF8.self) }

    @Test func `The list matches its golden page`() throws {
        try expectGolden(Self.list("search=&other=0", isStale: true), named: "list.html")
    }

    @Test func `The page of a city matches its golden pages`() throws {
        try expectGolden(#require(try Self.city("Delhi")), named: "city.html")
        try expectGolden(#require(try Self.city("Delhi", "chart=bars&from=1795236600000")), named: "city-bars.html")
    }

    @Test func `The page of a city with pollutants matches its golden page`() throws {
        var store = TestStore(
            history: HistoryRule(interval: 0),
            format: FeedFormat(pollutantsField: "p", subindicesField: "s", placeField: "where"))
        store.receive(
            #"[{"city":"Delhi","aqi":418.61,"p":{"pm2_5":251.04,"co":1299.6,"no2":0.04},"s":{"pm2_5":418.61,"pm10":300},"#
                + #""where":{"latitude":28.65,"longitude":77.23}}]"#)
        let page = Self.page(store)
        try expectGolden(#require(try page.city(Array("Delhi".utf8), "")), named: "city-pollutants.html")
    }

    @Test func `Without fresh readings every page says why`() throws {
        for store in [TestStore().store, Self.store().store] {
            let snapshot = store.snapshot(withHistories: true)
            let page = Page(Self.settings, snapshot, at: Self.now, causes: ["not connected: <b>", "no message yet"])
            for page in [try page.list(""), page.about(), try page.list("kiosk")] {
                #expect(text(page).contains("<p>Not connected: &lt;b&gt;</p>\n<p>No message yet</p>"))
            }
            store.apply(.connected(nil), feed: 0)
        }
        var store = Self.store()
        store.store.apply(.connected(nil), feed: 0)
        store.receive("Delhi", 5, at: Self.now)
        let page = Page(Self.settings, store.store.snapshot(withHistories: true), at: Self.now, causes: ["a cause"])
        #expect(!text(try page.list("")).contains("A cause"))
    }

    @Test func `A city that is overdue says so and how old it is, on every page`() throws {
        var store = TestStore(history: HistoryRule(interval: 0))
        _ = store.store.setFeed(label: "ws://feed.example/", idleTimeout: 300_000)
        store.store.apply(.connected(nil), feed: 0)
        // Delhi's pace is two seconds, Agra's ten minutes.
        for age in [784, 782, 780] as [Int64] { store.receive("Delhi", 290, at: Self.now - age * 1000) }
        for age in [1380, 780] as [Int64] { store.receive("Agra", 120, at: Self.now - age * 1000) }
        for age in [4, 2, 0] as [Int64] { store.receive("Pune", 80, at: Self.now - age * 1000) }
        let page = Self.page(store.store)
        for document in [try page.list(""), try page.list("kiosk")] {
            let cards = text(document).split(separator: "<li class=\"").filter { $0.hasPrefix("city ") }
            #expect(cards.map { $0.contains(" overdue") } == [true, false, false])
            #expect(cards.map { $0.contains(">13 min old<") } == [true, false, false])
        }
        let city = text(try #require(try page.city(Array("Delhi".utf8), "")))
        #expect(city.contains("class=\"current c4 overdue\"") && city.contains(">13 min old<"))
        #expect(!text(try #require(try page.city(Array("Agra".utf8), ""))).contains("overdue"))
    }

    @Test(arguments: Scale.all)
    func `The page of a city advises about sport and sensitive people`(_ scale: Scale) throws {
        var lines: Set<String> = []
        for category in scale.categories {
            var store = TestStore(scale: scale)
            store.receive("Delhi", category.from, at: Self.now)
            let page = Self.page(store.store)
            let city = text(try #require(try page.city(Array("Delhi".utf8), "")))
            #expect(city.contains("<dt>Sport outdoors</dt><dd>\(category.sportAdvice)</dd>"))
            #expect(city.contains("<dt>Sensitive people</dt><dd>\(category.sensitiveAdvice)</dd>"))
            #expect(text(try page.list("")).contains(">Sport: \(category.sportAdvice)<"))
            let about = text(page.about())
            #expect(about.contains(category.sportAdvice) && about.contains(category.sensitiveAdvice))
            #expect(!category.sportAdvice.isEmpty && !category.sensitiveAdvice.isEmpty)
            lines.insert("\(category.sportAdvice)|\(category.sensitiveAdvice)")
        }
        // The European advice is the same for its two best categories.
        #expect(lines.count >= 5)
    }

    @Test func `The country is shown where it is known, and the title has the worst AQI`() throws {
        var store = TestStore(format: FeedFormat(placeField: "where"))
        store.receive(#"[{"city":"Delhi","aqi":318.9,"where":{"country":"<IN>"}},{"city":"Pune","aqi":50}]"#)
        let page = Self.page(store.store)
        let list = text(try page.list(""))
        #expect(list.ranges(of: "class=\"country\"").count == 1 && list.contains("<bdi>&lt;IN&gt;</bdi>"))
        #expect(list.contains("<title>318 Delhi · Air quality</title>"))
        let city = text(try #require(try page.city(Array("Pune".utf8), "")))
        #expect(city.contains("<title>50 Pune · Air quality</title>") && !city.contains("class=\"country\""))
    }

    @Test(arguments: [(720, []), (4 * 3600, ["3h", "24h"]), (30 * 3600, ["3h", "24h", "7d"])] as [(Int64, [String])])
    func `Only ranges that the history can fill are offered, and no link leads beyond now`(
        _ seconds: Int64, _ ranges: [String]
    ) throws {
        var store = TestStore(history: HistoryRule(interval: 0))
        for step in 0...10 as ClosedRange<Int64> {
            store.receive("Delhi", 290, at: Self.now - seconds * 1000 + seconds * 100 * step)
        }
        let page = Self.page(store.store)
        for query in ["", "from=\(Self.now - seconds * 900)&to=\(Self.now - seconds * 400)"] {
            let city = text(try #require(try page.city(Array("Delhi".utf8), query)))
            #expect(city.matches(of: /range=(\w+)/).map { String($0.1) } == ranges)
            #expect(city.matches(of: /to=(\d+)/).allSatisfy { (Int64($0.1) ?? 0) <= Self.now })
            #expect(city.contains(">Later<") == !query.isEmpty)
            // The heading names the first and the last point shown.
            let times = city.matches(of: /data-ms="(\d+)" data-pattern="year"/)
            let first = query.isEmpty ? 0 : 1 as Int64
            let last = query.isEmpty ? 10 : 6 as Int64
            #expect(times.map { Int64($0.1) } == [first, last].map { Self.now - seconds * 1000 + seconds * 100 * $0 })
        }
        let later = text(try #require(try page.city(Array("Delhi".utf8), "range=3h")))
        #expect(!later.contains(">Later<"))
    }

    @Test(
        arguments: [
            (0, false, "Live, last message"), (50_000, false, "Live, last message"),
            (3_600_000, false, "Connected, newest values <time"), (0, true, "Interrupted, last message"),
        ] as [(Int64, Bool, String)])
    func `The list shows the state of the feeds`(_ age: Int64, _ isStale: Bool, _ words: String) throws {
        var store = TestStore()
        store.receive(#"[{"city":"Delhi","aqi":290}]"#, at: Self.now - age)
        #expect(text(try Self.page(store, isStale: isStale).list("")).contains("<span>\(words)"))
    }

    @Test(arguments: [(360_000, "Connected, newest values"), (900_000, "Interrupted")] as [(Int64, String)])
    func `A feed is interrupted when its readings are later than its pace`(_ age: Int64, _ words: String) throws {
        var store = TestStore(feeds: ["slow"])
        _ = store.store.setFeed(label: "slow", idleTimeout: 300_000)
        for time in [420_000, 0] as [Int64] { store.receive("Delhi", 290, at: Self.now - age - time) }
        #expect(text(try Self.page(store).list("")).contains("<span>\(words)"))
    }

    @Test func `The page says whether no readings have arrived yet or all have expired`() throws {
        var store = TestStore(expireAfter: 1)
        #expect(text(try Self.page(store.store).list("")).contains("<strong>Waiting for the first reading.</strong>"))
        #expect(text(try Self.page(store).list("")).contains("<strong>Connected, no readings yet.</strong>"))
        store.receive("Delhi", 1, at: 0)
        #expect(store.store.expire(at: Self.now) == 1)
        #expect(text(try Self.page(store).list("")).contains("<strong>All readings have expired.</strong>"))
    }

    @Test(arguments: [
        ("waqi", "Source: <a href=\"https://waqi.info/\">World Air Quality Index Project"),
        ("<own>", "Source: <bdi>&lt;own&gt;</bdi>, measured by stations, licence CC0."),
    ])
    func `The page credits the source of a feed`(_ source: String, _ words: String) throws {
        let store = TestStore()
        store.store.apply(.connected(FeedSource(name: source, kind: "stations", license: "CC0")), feed: 0)
        #expect(text(try Self.page(store.store).list("")).contains(words))
    }

    private static func names(_ page: [UInt8]) -> [String] {
        String(decoding: page, as: UTF8.self).split(separator: "data-city=\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
    }

    private static let image = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"

    @Test(arguments: [
        ("", ["Delhi", "القاهرة", "Mumbai", image, "Indore", ".."]),
        ("sort=name", ["..", image, "Delhi", "Indore", "Mumbai", "القاهرة"]),
        ("sort=changed", ["Indore", "Delhi", "..", image, "Mumbai", "القاهرة"]),
        ("search=+MUM+", ["Mumbai"]), ("search=IMG+src", [image]), ("search=%D8%A7%D9%84", ["القاهرة"]),
        ("search=%D9%82%D8%A7%D9%87%D8%B1%D8%A9", ["القاهرة"]), ("search=m&category=3", ["Mumbai"]),
        ("search=nowhere", []), ("category=1", ["Indore", ".."]), ("category=6", ["Delhi"]),
        ("category=5", []), ("category=1&search=i&sort=name", ["Indore"]),
        ("page=99", ["Delhi", "القاهرة", "Mumbai", image, "Indore", ".."]),
    ])
    func `The list filters and sorts the cities as requested`(_ query: String, _ names: [String]) throws {
        #expect(Self.names(try Self.list(query)) == names)
    }

    /// The signs of a Devanagari letter are parts of one character.
    @Test func `A search finds a name by each of its prefixes`() throws {
        var store = TestStore()
        store.receive("दिल्ली", 7, at: TestStore.start)
        let name = "दिल्ली".unicodeScalars
        for end in name.indices {
            let part = String(name[...end]).utf8.map { "%" + String($0, radix: 16) }.joined()
            #expect(Self.names(try Self.page(store).list("search=\(part)")) == ["दिल्ली"], "\(part)")
        }
    }

    @Test func `A list of many cities is split into pages`() throws {
        var store = TestStore()
        let all = (0..<250).map { #"{"city":"c\#($0 + 1000)","aqi":\#($0)}"# }
        store.receive("[\(all.joined(separator: ","))]")
        var seen: [String] = []
        for page in 1...3 {
            let text = try Self.page(store).list("sort=name&page=\(page)")
            seen += Self.names(text)
            #expect(String(decoding: text, as: UTF8.self).contains("Page \(page) of 3"))
            // Only the link to the next page, or to the second one from the last, names a page.
            #expect(String(decoding: text, as: UTF8.self).ranges(of: "page=").count == 1)
        }
        #expect(seen == (0..<250).map { "c\($0 + 1000)" })
    }

    @Test func `The pages of a wall have all cities, worst first, and follow one another without script`() throws {
        var store = TestStore()
        let all = (0..<130).map { #"{"city":"c\#($0 + 1000)","aqi":\#($0)}"# }
        store.receive("[\(all.joined(separator: ","))]")
        var seen: [String] = []
        for (page, next) in [(1, "?page=2&amp;kiosk"), (2, "?page=3&amp;kiosk"), (3, "?kiosk")] {
            let page = try Self.page(store).list("kiosk&page=\(page)")
            seen += Self.names(page)
            #expect(text(page).contains("http-equiv=\"refresh\" content=\"15; url=\(next)\""))
            #expect(text(page).contains("data-turn=\"\(next)\""))
        }
        #expect(seen == (0..<130).reversed().map { "c\($0 + 1000)" })
        #expect(!text(try Self.page(Self.store()).list("kiosk")).contains("data-turn"))
    }
}
