import AirQuality
import TestSupport
import Testing

@testable import Exposition

struct FeedFamiliesTests {
    @Test func `A feed's source is shown as long as its last connection named it, with quotes escaped`() {
        let test = TestStore(feeds: ["ws://a/", "ws://b/"])
        func lines() -> [Substring] {
            test.text().split(separator: "\n").filter { $0.hasPrefix("airquality_exporter_feed_source_info{") }
        }
        #expect(lines().isEmpty)
        test.store.apply(.connected(FeedSource(name: "open-meteo", kind: "model", license: "CC BY 4.0")), feed: 0)
        test.store.apply(.connected(FeedSource(name: "a\"b\\")), feed: 1)
        let first =
            #"airquality_exporter_feed_source_info{feed="ws://a/",source="open-meteo",kind="model",license="CC BY 4.0"} 1"#
        let second = #"airquality_exporter_feed_source_info{feed="ws://b/",source="a\"b\\",kind="",license=""} 1"#
        #expect(lines().map(String.init) == [first, second])
        // The feed's readings are still there when its connection is lost.
        test.store.apply(.disconnected("lost", detail: ""), feed: 0)
        #expect(lines().map(String.init) == [first, second])
        test.store.apply(.connected(nil), feed: 0)
        #expect(lines().map(String.init) == [second])
    }
}
