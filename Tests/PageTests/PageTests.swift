import AirQuality
import TestSupport
import Testing

@testable import Page

@Suite("The page") struct PageTests {
    private static let settings = PageSettings(
        version: "1.2.3", scale: .india,
        styleSheet: PageAsset(path: "assets/page.0.css", integrity: "sha256-css"),
        script: PageAsset(path: "assets/page.0.js", integrity: "sha256-js"),
        icon: PageAsset(path: "assets/icon.0.svg", integrity: "sha256-icon"),
        largeIcon: PageAsset(path: "assets/icon.0.png", integrity: "sha256-large"),
        grafanaURL: "https://grafana.example",
        paths: [PagePath(path: "/metrics", meaning: "metrics for Prometheus")], isLifecycleEnabled: true)

    /// Some cities with a history, one with a name like markup.
    private static func store() -> TestStore {
        var store = TestStore(history: HistoryRule(interval: 0))
        let start = TestStore.start
        store.receive("Delhi", 290, at: start)
        store.receive("Delhi", 318.9, at: start + 60_000)
        store.receive("Delhi", 418.61, at: start + 120_000)
        store.receive("Mumbai", 152, at: start + 121_000)
        store.receive("Indore", 52, at: start + 100_000)
        store.receive("Indore", 50.996, at: start + 122_000)
        store.receive("</script><img src=x onerror=alert(1)>", 77, at: start + 123_000)
        store.receive("القاهرة", 260, at: start + 124_000)
        store.receive("..", 5, at: start + 125_000)
        return store
    }

    private static let now = TestStore.start + 130_000

    private static func page(_ test: borrowing TestStore, outage: Outage? = nil) -> Page {
        Page(settings, test.store.snapshot(withHistories: true), outage: outage, at: now)
    }

    private static func list(_ query: String = "", outage: Outage? = nil) throws -> [UInt8] {
        page(store(), outage: outage).list(try ListQuery(query))
    }

    private static func city(_ name: String, _ query: String = "") throws -> [UInt8]? {
        page(store()).city(Array(name.utf8), try ChartQuery(query))
    }

    @Test("of the list is as it was") func list() throws {
        try expectGolden(Self.list("search=&kiosk=0", outage: Outage(since: TestStore.start)), named: "list.html")
    }

    @Test("says why readings are of no use, and what to set") func hint() throws {
        let outage = Outage(since: nil, hint: "The <flags>.")
        let empty = Self.page(TestStore(), outage: outage)
        for page in [empty.list(ListQuery()), empty.about()] {
            #expect(text(page).contains("<p>The &lt;flags&gt;.</p>"))
        }
        let interrupted = try Self.list(outage: Outage(since: TestStore.start, hint: outage.hint))
        #expect(
            text(interrupted).contains("Live data interrupted since") && text(interrupted).contains("&lt;flags&gt;"))
    }

    @Test(
        "says how the feeds are",
        arguments: [
            (nil, 0, "Live, last message"), (50_000, 0, "Live, last message"),
            (3_600_000, 0, "Connected, newest values <time"), (nil, 1, "Interrupted, last message"),
        ] as [(Int64?, Int64, String)])
    func states(_ age: Int64?, _ outage: Int64, _ words: String) throws {
        var store = TestStore()
        store.store.apply(.connected(nil), feed: 0)
        store.receive("Delhi", 290, at: TestStore.start)
        let page = Page(
            Self.settings, store.store.snapshot(withHistories: true),
            outage: outage > 0 ? Outage(since: TestStore.start) : nil, at: TestStore.start + (age ?? 0))
        #expect(text(page.list(ListQuery())).contains("<span>\(words)"))
    }

    @Test("says that a feed has sent no readings yet") func noReadings() {
        var store = TestStore()
        #expect(text(Self.page(store).list(ListQuery())).contains("<strong>Waiting for the first reading.</strong>"))
        store.store.apply(.connected(nil), feed: 0)
        #expect(text(Self.page(store).list(ListQuery())).contains("<strong>Connected, no message yet.</strong>"))
        store.receive("[]")
        #expect(text(Self.page(store).list(ListQuery())).contains("<strong>Connected, no readings yet.</strong>"))
    }

    @Test(
        "gives the credit that a source asks for",
        arguments: [
            ("waqi", "Source: <a href=\"https://waqi.info/\">World Air Quality Index Project"),
            ("<own>", "Source: <bdi>&lt;own&gt;</bdi>, measured by stations, licence CC0."),
        ])
    func credits(_ source: String, _ words: String) {
        let store = TestStore()
        store.store.apply(.connected(FeedSource(name: source, kind: "stations", license: "CC0")), feed: 0)
        #expect(text(Self.page(store).list(ListQuery())).contains(words))
    }

    private func text(_ page: [UInt8]) -> String { String(decoding: page, as: UTF8.self) }

    @Test("of a city is as it was") func city() throws {
        try expectGolden(#require(try Self.city("Delhi")), named: "city.html")
        try expectGolden(#require(try Self.city("Delhi", "chart=bars&from=1795236600000")), named: "city-bars.html")
    }

    @Test("of pollutants is as it was") func extras() throws {
        var store = TestStore(
            history: HistoryRule(interval: 0),
            format: FeedFormat(pollutantsField: "p", subindicesField: "s", placeField: "where"))
        store.receive(
            #"[{"city":"Delhi","aqi":418.61,"p":{"pm2_5":251.04,"co":1299.6,"no2":0.04},"s":{"pm2_5":418.61,"pm10":300},"#
                + #""where":{"latitude":28.65,"longitude":77.23}}]"#)
        let page = Self.page(store)
        try expectGolden(#require(page.city(Array("Delhi".utf8), ChartQuery())), named: "city-pollutants.html")
    }

    private static func names(_ page: [UInt8]) -> [String] {
        String(decoding: page, as: UTF8.self).split(separator: "data-city=\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
    }

    private static let image = "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"

    @Test(
        "lists the cities in the order that is asked for",
        arguments: [
            ("", ["Delhi", "القاهرة", "Mumbai", image, "Indore", ".."]),
            ("sort=name", ["..", image, "Delhi", "Indore", "Mumbai", "القاهرة"]),
            ("sort=changed", ["Indore", "Delhi", "..", image, "Mumbai", "القاهرة"]),
            ("search=MUM", ["Mumbai"]), ("search=IMG+src", [image]), ("search=%D8%A7%D9%84", ["القاهرة"]),
            ("search=%D9%82%D8%A7%D9%87%D8%B1%D8%A9", ["القاهرة"]), ("search=m&category=3", ["Mumbai"]),
            ("search=nowhere", []), ("category=1", ["Indore", ".."]), ("category=6", ["Delhi"]),
            ("category=5", []), ("category=1&search=i&sort=name", ["Indore"]),
            ("page=99", ["Delhi", "القاهرة", "Mumbai", image, "Indore", ".."]),
        ])
    func orders(_ query: String, _ names: [String]) throws {
        #expect(Self.names(try Self.list(query)) == names)
    }

    @Test(
        "finds a city whatever the case of its letters and the marks on them",
        arguments: [
            ("sao", "São Paulo"), ("SÃO", "São Paulo"), ("sa\u{303}o", "São Paulo"), ("lodz", "Łódź"),
            ("hanoi", "Ha\u{300}nôị"), ("zurich", "Zürich"), ("şan", "Sanaa"), ("ई", "नई दिल्ली"), ("नई दल", nil),
        ])
    func folding(_ search: String, _ name: String?) throws {
        var store = TestStore()
        for name in ["São Paulo", "Łódź", "Ha\u{300}nôị", "Zürich", "Sanaa", "नई दिल्ली"] {
            store.receive(name, 50, at: TestStore.start)
        }
        var query = try ListQuery("")
        query.search = Array(search.utf8)
        #expect(Self.names(Self.page(store).list(query)) == (name.map { [$0] } ?? []))
    }

    @Test("of many cities is a page's worth of them") func pages() throws {
        var store = TestStore()
        let all = (0..<250).map { #"{"city":"c\#($0 + 1000)","aqi":\#($0)}"# }
        store.receive("[\(all.joined(separator: ","))]")
        var seen: [String] = []
        for page in 1...3 {
            let text = Self.page(store).list(try ListQuery("sort=name&page=\(page)"))
            seen += Self.names(text)
            #expect(String(decoding: text, as: UTF8.self).contains("Page \(page) of 3"))
        }
        #expect(seen == (0..<250).map { "c\($0 + 1000)" })
    }

    @Test(
        "of very many cities has the right ones on each page, whatever the order",
        arguments: ListQuery.Sort.allCases, [1, 2, 7, 12, 13, 99])
    func deepPages(_ sort: ListQuery.Sort, _ page: Int) throws {
        var store = TestStore(cityLimit: 2000)
        // 7919 and 1200 have no common divisor: each value once.
        let all = (0..<1200).map { #"{"city":"c\#($0 + 1000)","aqi":\#($0 * 7919 % 1200)}"# }
        store.receive("[\(all.joined(separator: ","))]")
        let text = Self.page(store).list(try ListQuery("sort=\(sort.rawValue)&page=\(page)"))
        let names = (0..<1200).sorted { sort == .index ? $0 * 7919 % 1200 > $1 * 7919 % 1200 : $0 < $1 }.map {
            "c\($0 + 1000)"
        }
        let first = (min(page, 12) - 1) * 100
        #expect(Self.names(text) == Array(names[first..<first + 100]))
    }

    @Test("leads from each city to the one before and after it by name, over the ends of runs too")
    func neighbours() throws {
        var store = TestStore()
        let all = (0..<700).map { #"{"city":"c\#($0 + 1000)","aqi":1}"# }
        store.receive("[\(all.joined(separator: ","))]")
        let snapshot = store.store.snapshot(withHistories: true)
        func name(_ city: Int?) -> String? { city.map { String(decoding: snapshot.name(of: $0), as: UTF8.self) } }
        for number in 0..<700 {
            let found = try #require(snapshot.find(Array("c\(number + 1000)".utf8)))
            #expect(name(found.city) == "c\(number + 1000)")
            #expect(name(found.previous) == (number == 0 ? nil : "c\(number + 999)"))
            #expect(name(found.next) == (number == 699 ? nil : "c\(number + 1001)"))
        }
        for name in ["", "c", "c1000x", "z"] { #expect(snapshot.find(Array(name.utf8)) == nil) }
    }

    @Test("of a wall has the worst cities, and says how many are left out") func wall() throws {
        var store = TestStore()
        let all = (0..<100).map { #"{"city":"c\#($0 + 1000)","aqi":\#($0)}"# }
        store.receive("[\(all.joined(separator: ","))]")
        let page = Self.page(store).list(try ListQuery("kiosk&page=2"))
        #expect(Self.names(page) == (40..<100).reversed().map { "c\($0 + 1000)" })
        #expect(text(page).contains("40 more cities not shown"))
    }

    @Test("gives a city named like a folder a path that browsers leave alone") func folders() throws {
        let text = String(decoding: try Self.list(), as: UTF8.self)
        #expect(text.contains("href=\"city/..%20\""))
        #expect(try Self.city("..") != nil)
    }
}
