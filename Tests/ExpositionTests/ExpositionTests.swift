import AirQuality
import Bytes
import FeedProtocol
import Foundation
import TestSupport
import Testing

@testable import Exposition

struct ExpositionTests {
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

    @Test(arguments: ExpositionFormat.allCases)
    func `The exposition is the golden page in each format`(_ format: ExpositionFormat) throws {
        let end = format == .openMetrics100 ? "om" : "prom"
        try expectGolden(Self.busyStore().page(format), named: "busy.\(format).\(end)")
    }

    @Test func `The exposition before anything has happened has no city, and every reason with 0`() throws {
        try expectGolden(TestStore().page(), named: "empty.prom")
    }

    @Test(arguments: ExpositionFormat.allCases)
    func `The exposition has no series twice and no family in two places`(_ format: ExpositionFormat) {
        let lines = Self.busyStore().text(format).split(separator: "\n")
        let series = lines.filter { !$0.hasPrefix("#") }.map { $0[..<$0.lastIndex(of: " ")!] }
        #expect(Set(series).count == series.count)
        let families = series.map { $0.prefix { $0 != "{" && $0 != " " } }
        var seen: Set<Substring> = []
        for (family, previous) in zip(families, [""] + families.map { $0 }) where family != previous {
            #expect(seen.insert(family).inserted, "\(family) stands in two places")
        }
        #expect(Set(Exposition.metrics.map(\.name)).isSuperset(of: Set(families.map(String.init))))
    }

    @Test func `The text of a source's families is that of its figures, and empty without a source`() {
        let families = [Family<Int>("one_total", .counter, "A count.") { Double($0) }]
        #expect(
            ExpositionFormat.text004.text(of: families, from: 7)
                == Array("# HELP one_total A count.\n# TYPE one_total counter\none_total 7\n".utf8))
        #expect(
            ExpositionFormat.openMetrics100.text(of: families, from: 8)
                == Array("# TYPE one counter\n# HELP one A count.\none_total 8\n".utf8))
        #expect(ExpositionFormat.text004.text(of: families, from: nil).isEmpty)
    }

    @Test(
        arguments: [[.index], [.updated, .changes], []] as [Set<CityFamilyName>])
    func `The exposition has the families of cities that it is told to have`(_ families: Set<CityFamilyName>) {
        let test = Self.busyStore()
        let page = Exposition(rules: test.store.rules, families: families).render(test.store.snapshot(), in: .text004)
        let text = String(decoding: page, as: UTF8.self)
        for family in CityFamily.all {
            #expect(text.contains("\n\(family.metric.name){") == families.contains(family.name), "\(family.name)")
        }
        let others = { (text: String) in
            text.suffix(from: text.range(of: "# HELP airquality_category_info")!.lowerBound)
        }
        #expect(others(text) == others(test.text()))
    }

    @Test func `The exposition says which shard it is, and what it skipped, where there are shards`() {
        var test = TestStore(format: FeedFormat(shard: Shard(index: 2, count: 3)))
        test.receive("[" + (0..<100).map { #"{"city":"City \#($0)","aqi":1}"# }.joined(separator: ",") + "]")
        let lines = test.text().split(separator: "\n")
        #expect(lines.contains("airquality_exporter_shard_index 2"))
        #expect(lines.contains("airquality_exporter_shards 3"))
        let skipped = "airquality_exporter_feed_readings_skipped_total{feed=\"ws://feed.example/\"}"
        #expect(lines.contains("\(skipped) \(100 - test.cities.count)"))
        #expect(!Self.busyStore().text().contains("_shard_") && !Self.busyStore().text().contains("_skipped_"))
    }

    @Test(arguments: Scale.all) func `The exposition tells a category by the scale that is in force`(_ scale: Scale) {
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
