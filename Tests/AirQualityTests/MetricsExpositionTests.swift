import Bytes
import Foundation
import TestSupport
import Testing

@testable import AirQuality

@Suite("The exposition") struct MetricsExpositionTests {
    /// Two feeds, three cities with odd names, changes of category, rejections.
    static func busyStore() -> TestStore {
        var test = TestStore(expireAfter: 3_600_000, feeds: ["ws://feed.example/", "wss://other.example:8443/a\"b"])
        test.store.apply(.connecting, feed: 0)
        test.store.apply(.connected(nil), feed: 0)
        test.store.apply(.connecting, feed: 1)
        test.store.apply(.disconnected(.refused, detail: "connection refused"), feed: 1)
        test.store.apply(.paused, feed: 1)
        test.receive(
            #"[{"city":"Mumbai","aqi":183.2},{"city":"A \"quoted\\name\"","aqi":50},{"city":"मुंबई 😀","aqi":401}]"#)
        test.receive(
            #"[{"city":"Mumbai","aqi":201},{"city":"A \"quoted\\name\"","aqi":51},{"city":"x"},{"city":""}]"#,
            at: TestStore.start + 1)
        test.receive(#"[{"city":"Mumbai","aqi":200.99}]"#, at: TestStore.start + 2100)
        test.receive("rubbish", at: TestStore.start + 2200)
        return test
    }

    /// The end-to-end tests decode the golden page of protobuf with Google's library.
    @Test("is the golden page in each format", arguments: ExpositionFormat.allCases)
    func golden(_ format: ExpositionFormat) throws {
        let end = format == .protobuf ? "pb" : format.isOpenMetrics ? "om" : "prom"
        try expectGolden(Self.busyStore().page(format), named: "busy.\(format).\(end)")
    }

    @Test("before anything has happened has no city, and every reason with 0") func empty() throws {
        try expectGolden(TestStore().page(), named: "empty.prom")
    }

    @Test("has no series twice and no family in two places", arguments: [ExpositionFormat.text004, .openMetrics100])
    func unique(_ format: ExpositionFormat) {
        let lines = Self.busyStore().text(format).split(separator: "\n")
        let series = lines.filter { !$0.hasPrefix("#") }.map { $0[..<$0.lastIndex(of: " ")!] }
        #expect(Set(series).count == series.count)
        let families = series.map { $0.prefix { $0 != "{" && $0 != " " } }
        var seen: Set<Substring> = []
        for (family, previous) in zip(families, [""] + families.map { $0 }) where family != previous {
            #expect(seen.insert(family).inserted, "\(family) stands in two places")
        }
        #expect(Set(MetricsExposition.metrics.map(\.name)).isSuperset(of: Set(families.map(String.init))))
    }

    /// The page keeps its blocks between scrapes; a page made anew must be the same bytes.
    /// What was given out before may still be on its way to a scraper and must stay as it was.
    @Test("kept between scrapes is the same as one made anew", arguments: 1...8 as ClosedRange<UInt64>)
    func keptBlocks(_ seed: UInt64) {
        var sent: (page: RenderedExposition?, bytes: [UInt8]?) = (nil, nil)
        var random = SeededRandom(seed: seed)
        var test = TestStore(cityLimit: 2000, expireAfter: 500)
        var kept = MetricsExposition(rules: test.store.rules)
        var now = TestStore.start
        for step in 0..<60 {
            now += Int64.random(in: 0...50, using: &random)
            let elements = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                let city =
                    step % 20 < 10 ? Int.random(in: 0..<600, using: &random) : Int.random(in: 0..<40, using: &random)
                // Values of every length, so that lines grow and shrink beside each other.
                let digits = Double([1, 10, 1000, 10_000, 1_000_000_000_000].randomElement(using: &random) ?? 1)
                let range = 0...Double([9, 99, 9999].randomElement(using: &random) ?? 9)
                let index = (Double.random(in: range, using: &random) * digits).rounded() / digits
                return #"{"city":"City \"\#(city)","aqi":\#(index)}"#
            }
            test.receive("[" + elements.joined(separator: ",") + "]", at: now)
            if step % 7 == 0 { _ = test.store.expire(at: now) }
            // Mostly the same one, as a scraper asks.
            let format = step % 4 == 0 ? ExpositionFormat.allCases.randomElement(using: &random) ?? .text004 : .text004
            let snapshot = test.store.snapshot()
            let page = kept.render(snapshot, format: format)
            var anew = MetricsExposition(rules: test.store.rules)
            let expected = anew.render(snapshot, format: format)
            #expect(page.bytes == expected.bytes)
            let again = kept.render(snapshot, format: format)
            #expect(again.cities.elementsEqual(page.cities) { $0 === $1 })
            #expect(again.bytes == expected.bytes)
            #expect(sent.page?.bytes == sent.bytes)
            // Every other page is gone before the next.
            sent = step % 2 == 0 ? (page, expected.bytes) : (nil, nil)
        }
    }

    @Test("ends with the group that each scrape changes, behind one that is kept while it says the same")
    func groups() {
        var test = TestStore()
        let families = ["one_total", "two_total"].map { Family<UInt64>($0, .counter, "A count.") { Double($0) } }
        var page = MetricsExposition(
            rules: test.store.rules, groups: [SourceFamilies([families[0]]) { [$0.feeds[0].messages / 2] }],
            last: SourceFamilies([families[1]]) { [$0.feeds[0].messages] })
        var block: ExpositionBlock?
        for number in 0..<4 {
            let rendered = page.render(test.store.snapshot(), format: .text004)
            let one = "# HELP one_total A count.\n# TYPE one_total counter\none_total \(number / 2)\n"
            let two = "# HELP two_total A count.\n# TYPE two_total counter\ntwo_total \(number)\n"
            #expect(rendered.blocks.last?.bytes == Array(one.utf8) && rendered.end == Array(two.utf8))
            #expect((rendered.blocks.last === block) == (number % 2 == 1))
            block = rendered.blocks.last
            test.receive("[]")
        }
    }

    /// Each as if the others had never been asked for.
    @Test("is its two parts, one behind the other", arguments: ExpositionFormat.allCases)
    func parts(_ format: ExpositionFormat) {
        var test = Self.busyStore()
        var page = MetricsExposition(rules: test.store.rules)
        let end = Array(format.isOpenMetrics ? "# EOF\n".utf8 : "".utf8)
        var sent: [[ExpositionBlock]] = []
        for step in 0..<4 {
            test.receive("Mumbai", Double(100 * (step / 2)), at: TestStore.start + 10_000 * Int64(step / 2 + 1))
            let snapshot = test.store.snapshot()
            func render(_ part: MetricsPart) -> RenderedExposition { page.render(snapshot, format: format, part: part) }
            let (all, cities, exporter) = (render(.all), render(.cities), render(.exporter))
            #expect(all.bytes == cities.bytes.dropLast(end.count) + exporter.bytes)
            #expect(cities.bytes.suffix(end.count) == end[...] && exporter.bytes.suffix(end.count) == end[...])
            #expect(render(.all).blocks.elementsEqual(all.blocks) { $0 === $1 })
            sent.append(all.blocks)
            guard format != .protobuf else { continue }
            let lines = String(decoding: cities.bytes, as: UTF8.self).split(separator: "\n")
                .filter { !$0.hasPrefix("#") }
            #expect(lines.count > 3 * 6 && lines.allSatisfy { $0.contains("{city=\"") })
            #expect(!String(decoding: exporter.bytes, as: UTF8.self).contains("city=\""))
        }
        #expect(sent.count == 4)
    }

    @Test(
        "has the families of cities that it is told to have",
        arguments: [[.index], [.updated, .changes], []] as [Set<CityFamilyName>])
    func families(_ families: Set<CityFamilyName>) {
        let test = Self.busyStore()
        var page = MetricsExposition(rules: test.store.rules, families: families)
        let text = String(decoding: page.render(test.store.snapshot(), format: .text004).bytes, as: UTF8.self)
        for family in CityFamily.all {
            #expect(
                text.contains("\n\(family.family.metric.name){") == families.contains(family.name), "\(family.name)")
        }
        let others = { (text: String) in
            text.suffix(from: text.range(of: "# HELP airquality_category_info")!.lowerBound)
        }
        #expect(others(text) == others(test.text()))
    }

    @Test("says which shard it is, and what it skipped, where there are shards") func shard() {
        var test = TestStore(format: FeedFormat(shard: Shard(index: 2, count: 3)))
        test.receive("[" + (0..<100).map { #"{"city":"City \#($0)","aqi":1}"# }.joined(separator: ",") + "]")
        let lines = test.text().split(separator: "\n")
        #expect(lines.contains("airquality_exporter_shard_index 2"))
        #expect(lines.contains("airquality_exporter_shards 3"))
        let skipped = "airquality_exporter_feed_readings_skipped_total{feed=\"ws://feed.example/\"}"
        #expect(lines.contains("\(skipped) \(100 - test.cities.count)"))
        #expect(!Self.busyStore().text().contains("_shard_") && !Self.busyStore().text().contains("_skipped_"))
    }

    @Test("tells a category by the scale that is in force", arguments: Scale.all) func scales(_ scale: Scale) {
        let test = TestStore(scale: scale)
        let page = test.text()
        for category in scale.categories {
            #expect(
                page.contains(
                    #"airquality_category_info{scale="\#(scale.name)",category="\#(category.number)",name="\#(category.name)",from="\#(Int(category.from))",color="\#(category.color)",face="\#(category.face)"} 1"#
                ))
        }
    }
}
