import AirQuality
import HTTPServer
import Synchronization
import Testing

@testable import AirQualityExporter

@Suite("A request")
struct RoutesTests {
    private final class Counts: Sendable {
        let reads = Atomic(0)
        let reconnects = Atomic(0)
    }

    private let counts = Counts()

    private func routes(lifecycle: Bool = false, corsOrigin: String? = nil) -> Routes {
        let store = ReadingStore(rules: StoreRules(hashSeed: 1), feeds: ["ws://a/"], at: 1_795_236_585_252)
        var decoder = FeedDecoder(format: FeedFormat(), hashSeed: 1)
        let message = Array(#"[{"city":"Mumbai","aqi":183.2},{"city":"<b>&\"","aqi":7}]"#.utf8)
        _ = decoder.decode(message.span, receivedAt: 1_795_236_585_252) { store.record($0, names: $1, feed: 0) }
        let counts = counts
        return Routes(
            telemetryPath: "/metrics", isLifecycleEnabled: lifecycle,
            metrics: MetricsEndpoint(store: store, build: .current, scrapes: nil, storage: nil),
            history: HistoryEndpoint(store: store, corsOrigin: corsOrigin),
            health: Health(store: store, idleTimeout: .seconds(60), stuckFeeds: { [] }),
            landingPage: LandingPage(store: store, version: "1.2.3", telemetryPath: "/metrics"),
            onRead: { counts.reads.add(1, ordering: .relaxed) },
            reconnect: { counts.reconnects.add(1, ordering: .relaxed) }, reload: { "web.yml, line 3: no" })
    }

    @Test(
        "is answered with the right status",
        arguments: [
            ("GET", "/metrics", 200), ("HEAD", "/metrics", 200), ("GET", "/history.json", 200), ("GET", "/", 200),
            ("GET", "/-/healthy", 200), ("HEAD", "/-/healthy", 200), ("GET", "/-/ready", 503),
            ("HEAD", "/-/ready", 503),
            ("GET", "/nowhere", 404), ("GET", "/metrics/", 404), ("GET", "//", 404), ("GET", "/..", 404),
            ("POST", "/metrics", 405), ("DELETE", "/", 405), ("PUT", "/history.json", 405), ("POST", "/-/healthy", 405),
            ("GET", "/-/reload", 405), ("GET", "/-/reconnect", 405), ("POST", "/-/reload", 403),
            ("POST", "/-/reconnect", 403), ("OPTIONS", "/metrics", 405),
        ])
    func statuses(_ method: String, _ path: String, _ status: Int) {
        let response = routes().respond(to: HTTPRequest(method: method, path: path))
        #expect(response.status == status)
        if status == 405 {
            #expect(response.headers.contains { $0.name == "Allow" })
        }
        if status >= 400 {
            let text = response.text
            #expect(text.hasSuffix("\n") && text.dropLast().allSatisfy { !$0.isNewline })
        }
    }

    @Test(
        "that the server refuses is answered as its path wants",
        arguments: [
            (String?.some("/history.json"), "{\"error\": \"too many requests\"}\n"),
            ("/metrics", "too many requests\n"),
            (nil, "too many requests\n"),
        ])
    func refusals(_ path: String?, _ text: String) {
        let refusal = HTTPRefusal(429, headers: [("X-Why", "rate")], "too many requests")
        let response = Routes.answer(refusal, path: path)
        #expect(response.status == 429)
        #expect(response.text == text)
        #expect(response.headers.contains { $0.name == "X-Why" && $0.value == "rate" })
    }

    @Test("for the lifecycle is allowed by a flag")
    func lifecycle() {
        let routes = routes(lifecycle: true)
        #expect(routes.respond(to: HTTPRequest(method: "POST", path: "/-/reconnect")).status == 200)
        #expect(counts.reconnects.load(ordering: .relaxed) == 1)
        let reload = routes.respond(to: HTTPRequest(method: "POST", path: "/-/reload"))
        #expect(reload.status == 500)
        #expect(reload.text == "web.yml, line 3: no\n")
    }

    @Test("that reads is counted as one, another is not")
    func reads() {
        let routes = routes()
        for path in ["/metrics", "/history.json", "/", "/-/ready", "/nowhere"] {
            _ = routes.respond(to: HTTPRequest(path: path))
        }
        _ = routes.respond(to: HTTPRequest(method: "POST", path: "/metrics"))
        #expect(counts.reads.load(ordering: .relaxed) == 2)
    }

    @Test("for the metrics is answered in the format and the coding it accepts")
    func metrics() {
        let routes = routes()
        let plain = routes.respond(to: HTTPRequest(path: "/metrics"))
        #expect(plain.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        #expect(plain.header("Vary") == "Accept, Accept-Encoding")
        #expect(plain.text.contains(#"airquality_index{city="Mumbai"} 183.2"#))
        let openMetrics = routes.respond(
            to: HTTPRequest(
                path: "/metrics",
                headers: [("Accept", "application/openmetrics-text;version=1.0.0"), ("Accept-Encoding", "gzip")]))
        #expect(openMetrics.header("Content-Type") == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(openMetrics.header("Content-Encoding") == "gzip")
        #expect(openMetrics.bytes.starts(with: [0x1F, 0x8B]))
    }

    @Test("for the history is answered once for the same content")
    func history() {
        let routes = routes(corsOrigin: "https://grafana.example")
        let first = routes.respond(to: HTTPRequest(path: "/history.json"))
        #expect(first.header("Content-Type") == "application/json")
        #expect(first.header("Cache-Control") == "no-cache")
        #expect(first.header("Access-Control-Allow-Origin") == "https://grafana.example")
        let tag = first.header("ETag") ?? ""
        #expect(tag.hasPrefix("\"") && tag.count > 4)
        for condition in [tag, "W/" + tag, "\"x\", " + tag, "*"] {
            let again = routes.respond(to: HTTPRequest(path: "/history.json", headers: [("If-None-Match", condition)]))
            #expect(again.status == 304)
            #expect(again.header("ETag") == tag)
            #expect(again.bytes.isEmpty)
        }
        let other = routes.respond(to: HTTPRequest(path: "/history.json", headers: [("If-None-Match", "\"x\"")]))
        #expect(other.status == 200)
        #expect(other.bytes == first.bytes)
        let gzip = routes.respond(to: HTTPRequest(path: "/history.json", headers: [("Accept-Encoding", "gzip")]))
        #expect(gzip.header("ETag") != tag)
        let bad = routes.respond(to: HTTPRequest(path: "/history.json", query: "limit=0"))
        #expect(bad.status == 400)
        #expect(bad.text == "{\"error\": \"query: limit is \\\"0\\\", expected a whole number from 1 up\"}\n")
    }

    @Test("for the landing page shows feeds and cities, and nothing of a name is markup")
    func landingPage() {
        let text = routes().respond(to: HTTPRequest(path: "/")).text
        #expect(text.contains("version 1.2.3"))
        #expect(text.contains("&lt;b&gt;&amp;&quot;"))
        #expect(!text.contains("<b>"))
        #expect(text.contains("/history.json?city=%3Cb%3E%26%22"))
        #expect(text.contains("😐") && text.contains("Moderate"))
        #expect(text.contains("○ not connected"))
        for path in ["/metrics", "/history.json", "/-/healthy", "/-/ready"] {
            #expect(text.contains("href=\"\(path)\""))
        }
    }
}

extension HTTPResponse {
    var bytes: [UInt8] {
        switch body {
        case .bytes(let bytes): bytes
        case .blocks(let blocks): Array(blocks.joined())
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
