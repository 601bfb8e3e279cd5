import AirQuality
import TestSupport
import Testing

@testable import Page

@Suite("The page") struct PageTests {
    private static let settings = PageSettings(
        version: "1.2.3", scale: .india, telemetryPath: "/metrics",
        styleSheet: PageAsset(path: "assets/page.0.css", integrity: "sha256-css"),
        script: PageAsset(path: "assets/page.0.js", integrity: "sha256-js"),
        icon: PageAsset(path: "assets/icon.0.svg", integrity: "sha256-icon"),
        map: PageAsset(path: "assets/map.0.svg", integrity: "sha256-map"), grafanaURL: "https://grafana.example",
        hasEvents: true, isLifecycleEnabled: true)

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
        page(store()).city(Array(name.utf8), try ChartQuery(query))?.document
    }

    @Test("of the list is as it was") func list() throws {
        try expectGolden(Self.list("search=&kiosk=0", outage: Outage(since: TestStore.start)), named: "list.html")
    }

    @Test("says in plain words that readings are of no use, and why on the page about it alone") func hint() throws {
        let outage = Outage(since: nil, hint: "The <flags>.")
        let empty = Self.page(TestStore(), outage: outage)
        let page = empty.list(ListQuery())
        for page in [page, try Self.list(outage: Outage(since: TestStore.start, hint: outage.hint))] {
            let text = String(decoding: page, as: UTF8.self)
            #expect(text.contains(" Data is arriving but cannot be used.</p>") && !text.contains("flags"))
        }
        #expect(String(decoding: page, as: UTF8.self).contains("<span>Waiting, no message yet</span>"))
        #expect(String(decoding: empty.about(), as: UTF8.self).contains("<p>The &lt;flags&gt;.</p>"))
    }

    @Test("of a city is as it was") func city() throws {
        try expectGolden(#require(try Self.city("Delhi")), named: "city.html")
        try expectGolden(#require(try Self.city("Delhi", "chart=bars&from=1795236600000")), named: "city-bars.html")
    }

    @Test("of a map and of pollutants is as it was") func extras() throws {
        var store = TestStore(
            history: HistoryRule(interval: 0),
            format: FeedFormat(pollutantsField: "p", subindicesField: "s", placeField: "where"))
        store.receive(
            #"[{"city":"Delhi","aqi":418.61,"p":{"pm2_5":251.04,"co":1299.6,"no2":0.04},"s":{"pm2_5":418.61,"pm10":300},"#
                + #""where":{"latitude":28.65,"longitude":77.23}},{"city":"<b>","aqi":152,"s":{"o3":152,"pm10":152},"#
                + #""where":{"latitude":19.08,"longitude":72.88}},{"city":"Nowhere","aqi":20,"where":{"latitude":1}}]"#)
        let page = Self.page(store)
        try expectGolden(page.list(try ListQuery("map")), named: "list-map.html")
        try expectGolden(#require(page.city(Array("Delhi".utf8), ChartQuery())).document, named: "city-pollutants.html")
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
        let snapshot = store.store.snapshot()
        #expect(Self.names(Self.page(store).list(query)) == (name.map { [$0] } ?? []))
        // A name is similar to all of another alone.
        #expect(snapshot.similar(to: Array("sao paulo".utf8)) == snapshot.find(Array("São Paulo".utf8))?.city)
        #expect(snapshot.similar(to: Array("sao".utf8)) == nil)
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

    @Test("gives a city named like a folder a path that browsers leave alone") func folders() throws {
        let text = String(decoding: try Self.list(), as: UTF8.self)
        #expect(text.contains("href=\"city/..%20\""))
        #expect(try Self.city("..") != nil)
    }
}

@Suite("The chart") struct ChartTests {
    private func points(_ indices: [Double], every step: Int64 = 30_000) -> [HistoryPoint] {
        indices.enumerated().map { HistoryPoint(time: 1_000_000 + Int64($0) * step, index: $1, category: 1) }
    }

    @Test("has all points in it, with room around", arguments: [[5.0], [301, 301], [0, 999], [48, 52, 47]])
    func bounds(_ indices: [Double]) {
        let chart = Chart(points(indices), from: nil, to: nil, scale: .india)
        for point in chart.points {
            #expect((0...1).contains(chart.x(point.time)) && (0...1).contains(chart.y(point.index)))
        }
        #expect(chart.low >= 0 && chart.high - chart.low >= 12)
        #expect(!chart.ticks.isEmpty && chart.ticks.count <= 7)
        #expect(!chart.levels.isEmpty && chart.levels.count <= 14)
        let bands = chart.bands
        #expect(abs(bands[0].bottom - 1) < 1e-9 && abs(bands[bands.count - 1].top) < 1e-9)
        for (one, next) in zip(bands, bands.dropFirst()) { #expect(one.top == next.bottom) }
    }

    @Test(
        "shows two bands or more, none of the two a sliver",
        arguments: [
            [5.0], [48, 49], [52, 53], [399, 400], [401, 402], [0, 999], [100, 101], [201, 560], [20, 52],
        ])
    func twoBands(_ indices: [Double]) {
        for beginsAtZero in [false, true] {
            let chart = Chart(points(indices), from: nil, to: nil, beginsAtZero: beginsAtZero, scale: .india)
            #expect(chart.bands.count { $0.bottom - $0.top >= 0.08 } >= 2, "\(chart.bands.map { $0.bottom - $0.top })")
        }
    }

    @Test("of bars begins at zero, and has the scale's bands from there") func bars() {
        let chart = Chart(points([301, 310]), from: nil, to: nil, beginsAtZero: true, scale: .india)
        #expect(chart.low == 0)
        #expect(chart.bands.first?.category.number == 1 && chart.bands.first?.bottom == 1)
    }

    @Test("shows the time that is asked for, be it empty") func zoom() {
        let all = points((0..<25).map { Double($0) })
        let chart = Chart(all, from: 1_060_000, to: 1_150_000, scale: .india)
        #expect(chart.points.map(\.index) == [2, 3, 4, 5])
        // The line goes on to what is outside.
        #expect(chart.line.map(\.index) == [1, 2, 3, 4, 5, 6])
        #expect(Chart(all, from: 1_061_000, to: 1_062_000, scale: .india).line.map(\.index) == [2, 3])
        #expect(Chart(all, from: nil, to: nil, scale: .india).line.count == 25)
        #expect(Chart(all, from: 5_000_000, to: 6_000_000, scale: .india).points.isEmpty)
        #expect(Chart(all, from: 5_000_000, to: nil, scale: .india).points.isEmpty)
        #expect(Chart(all, from: nil, to: 1, scale: .india).points.isEmpty)
    }

    @Test("of very many points keeps each stretch's lowest and highest") func thinning() {
        var indices = (0..<10_000).map { _ in 100.0 }
        indices[1234] = 7
        indices[8765] = 480
        let kept = thinned(points(indices), to: 600)
        #expect(kept.count <= 600)
        #expect(kept.contains { $0.index == 7 } && kept.contains { $0.index == 480 })
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(thinned(points([1, 2, 3]), to: 600).count == 3)
    }

    @Test("has a piece from point to point, and none where there is a gap, however many there are") func gaps() {
        // A minute three times, then an hour: a quarter of the points have gaps after them.
        var time: Timestamp = 0
        let all = (0..<10_000).map { number -> HistoryPoint in
            time += number % 4 == 0 ? 3_600_000 : 60_000
            return HistoryPoint(time: time, index: Double(number % 50), category: 1)
        }
        let few = Chart(Array(all.prefix(100)), from: nil, to: nil, scale: .india)
        let runs = Chart.runs(of: few.line, between: few.gaps)
        #expect(few.gaps.count == 24 && runs.count == 25 && runs.flatMap(\.self).count == 100)
        for run in runs {
            #expect(zip(run, run.dropFirst()).allSatisfy { $1.time - $0.time == 60_000 })
        }
        // Points that fall before a gap, around it, into it.
        let gap = few.gaps[0]
        let other = [gap.from - 9, gap.from - 3, gap.to + 3, gap.to + 9].map {
            HistoryPoint(time: $0, index: 1, category: 1)
        }
        #expect(Chart.runs(of: other, between: few.gaps).map(\.count) == [2, 2])
        let into = other.map { HistoryPoint(time: $0.time + 6, index: 1, category: 1) }
        #expect(Chart.runs(of: into, between: few.gaps).map(\.count) == [4])
        // Too narrow to be seen, and too many to be drawn.
        #expect(Chart(all, from: nil, to: nil, scale: .india).gaps.isEmpty)
        #expect(Chart(all, from: all[0].time, to: all[400].time, scale: .india).gaps.count >= 100)
    }

    @Test(
        "says times as short as its length allows",
        arguments: [(1000 as Int64, "04:49:45"), (30_000, "04:49"), (10_000_000, "21 Nov 04:49")])
    func clock(_ step: Int64, _ text: String) {
        let start = TestStore.start
        let points = (0..<25).map { HistoryPoint(time: start + Int64($0) * step, index: 1, category: 1) }
        #expect(Chart(points, from: nil, to: nil, scale: .india).clock(start) == text)
    }
}

@Suite("Markup") struct MarkupTests {
    @Test("escapes what is interpolated, and nothing else") func escapes() {
        let name = "<b>&\"'"
        #expect(text("<i>\(name)</i>") == "<i>&lt;b&gt;&amp;&quot;'</i>")
        #expect(text("\(Array(name.utf8)[...])") == "&lt;b&gt;&amp;&quot;'")
        #expect(text("\("<i>" as Markup)") == "<i>")
        #expect(text("\(percent: Array("a/ä b?".utf8)[...])") == "a%2F%C3%A4%20b%3F")
        #expect(text("\(decimals: 50.996)|\(decimals: 0)|\(decimals: 7.049)") == "51.00|0.00|7.05")
        #expect(text("\(percent: 1.0 / 3)|\(percent: 1)|\(percent: -0.0125)") == "33.33%|100.00%|-1.25%")
    }

    private func text(_ markup: Markup) -> String { String(decoding: markup.bytes, as: UTF8.self) }
}
