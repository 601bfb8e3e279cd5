import AirQuality
import Bytes
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
        test.store.apply(.disconnected("refused", detail: "connection refused"), feed: 1)
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
    func `The exposition matches the golden page in each format`(_ format: ExpositionFormat) throws {
        let end = format == .openMetrics100 ? "om" : "prom"
        try expectGolden(Self.busyStore().page(format), named: "busy.\(format).\(end)")
    }

    @Test func `The initial exposition has no city, and every reason with 0`() throws {
        try expectGolden(TestStore().page(), named: "empty.prom")
    }

    @Test func `A source's metric families show its figures, and are empty without a source`() {
        let families = [Family<Int>("one_total", .counter, "A count.") { Double($0) }]
        #expect(
            ExpositionFormat.text004.text(of: families, from: 7)
                == Array("# HELP one_total A count.\n# TYPE one_total counter\none_total 7\n".utf8))
        #expect(
            ExpositionFormat.openMetrics100.text(of: families, from: 8)
                == Array("# TYPE one counter\n# HELP one A count.\none_total 8\n".utf8))
        #expect(ExpositionFormat.text004.text(of: families, from: nil).isEmpty)
    }

    @Test(arguments: Scale.all) func `The exposition describes the categories of the current scale`(_ scale: Scale) {
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
