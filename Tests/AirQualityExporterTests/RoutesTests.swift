import AirQuality
import Bytes
import CommandLine
import Exposition
import HTTPText
import Synchronization
import System
import TestSupport
import Testing

@testable import AirQualityExporter
@testable import HTTPServer

struct RoutesTests {
    /// An exporter with three cities that neither listens nor dials; one name begins with a combining mark.
    private func exporter(_ change: (inout Configuration) -> Void = { _ in }) throws -> Exporter {
        var configuration = Configuration()
        change(&configuration)
        guard case .run(let flags) = try Program.exporter.parse(arguments: []) else { throw FlagError("no run") }
        let logger = Logger(level: .error, write: { _ in })
        let exporter = try Exporter(configuration, feeds: [], flags: flags, logger: logger)
        var decoder = FeedDecoder(format: configuration.feed.format)
        let message =
            "[{\"city\":\"Mumbai\",\"aqi\":183.2},{\"city\":\"<b>&\\\"\",\"aqi\":7},{\"city\":\"\u{301}\",\"aqi\":1}]"
        exporter.store.record(
            decoder.decode(Array(message.utf8).span, receivedAt: 1_795_236_585_252),
            feed: exporter.store.setFeed(label: "ws://a/", idleTimeout: 0))
        return exporter
    }

    /// The routes of such an exporter, which are made once and respond to several requests.
    private func server(_ change: (inout Configuration) -> Void = { _ in }) throws -> [Route] {
        try exporter(change).routes()
    }

    @Test(
        arguments: [
            ("GET", "/metrics", 200), ("HEAD", "/metrics", 200), ("GET", "/history.json", 200), ("GET", "/", 200),
            ("GET", "/-/healthy", 200), ("HEAD", "/-/healthy", 200), ("GET", "/-/ready", 503),
            ("HEAD", "/-/ready", 503), ("GET", "/favicon.ico", 200),
            ("GET", "/nowhere", 404), ("GET", "/metrics/", 404), ("GET", "//", 404), ("GET", "/..", 404),
            ("POST", "/metrics", 405), ("DELETE", "/", 405), ("PUT", "/history.json", 405), ("POST", "/-/healthy", 405),
            ("GET", "/-/reload", 405), ("HEAD", "/-/reload", 405), ("PUT", "/-/reload", 405),
            ("POST", "/-/reload", 403), ("GET", "/-/reconnect", 405), ("HEAD", "/-/reconnect", 405),
            ("PUT", "/-/reconnect", 405), ("POST", "/-/reconnect", 403), ("OPTIONS", "/metrics", 405),
            ("GET", "/city/Mumbai", 200), ("HEAD", "/city/Mumbai", 200), ("GET", "/city/Delhi", 404),
            ("GET", "/city/", 404), ("GET", "/city", 404), ("GET", "/city/ Mumbai ", 200),
            ("GET", "/city/\u{301}", 200), ("GET", "/city/<b>&\"", 200), ("POST", "/city/Mumbai", 405),
            ("HEAD", "/events", 200), ("POST", "/events", 405), ("GET", "/assets/page.css", 404),
            ("PUT", "/assets/page.css", 405),
        ])
    func `Each request gets the right status`(_ method: String, _ path: String, _ status: Int) throws {
        let response = try server().respond(to: HTTPRequest(method: method, path: path))
        #expect(response.status == status)
        let allowed = path.hasPrefix("/-/re") && path != "/-/ready" ? "POST" : "GET, HEAD"
        #expect(response.header("Allow") == (status == 405 ? allowed : nil))
        #expect(response.text.contains("--web.enable-lifecycle") == (status == 403))
        if status >= 400 {
            let text = response.text
            // A line for each cause; every other error is one line.
            let lines = path == "/-/ready" ? 2 : 1
            #expect(text.hasSuffix("\n") && text.count(where: \.isNewline) == lines)
        }
    }

    @Test func `Only the health paths are exempt from passwords and the rate limit`() throws {
        #expect(try server().filter { $0.isExempt }.map(\.path) == ["/-/healthy", "/-/ready"])
    }

    @Test func `Requests that need memory or processor time are limited`() throws {
        let unlimited = try server().filter { $0.limit == nil }.map(\.path)
        #expect(unlimited == ["/-/healthy", "/-/ready", "/-/reconnect", "/-/reload"])
    }

    @Test func `Each path has one route, and the telemetry path comes first`() throws {
        let paths = try server { $0.web.telemetryPath = "/x" }.map(\.path)
        #expect(paths.first == "/x" && Set(paths).count == paths.count)
    }

    @Test func `Only requests that read data end a pause`() throws {
        let exporter = try exporter { $0.pauseWhenUnused = .seconds(1) }
        let routes = exporter.routes()
        func counts(_ method: String, _ path: String) -> Bool {
            // Paused first: a read ends that.
            exporter.feeds.pauseIfUnused(at: monotonicTime() + .seconds(60))
            _ = routes.respond(to: HTTPRequest(method: method, path: path))
            return exporter.feeds.usage.read { !$0.isPaused }
        }
        for path in ["/metrics", "/history.json"] { #expect(counts("GET", path)) }
        for path in ["/", "/city/Mumbai", "/about", "/events", "/-/healthy", "/-/ready", "/nowhere"] {
            #expect(!counts("GET", path), "\(path)")
        }
        #expect(!counts("POST", "/metrics"))
    }

    @Test func `Each statistic of the process has a metric family`() {
        #expect(Set(ProcessStatistics.families.map(\.metric.name)) == Set(ProcessStatistics.current().values.keys))
    }

    @Test func `The history is not sent again to a client that has the same content`() throws {
        let routes = try server()
        let first = routes.get("/history.json")
        #expect(first.header("Content-Type") == "application/json")
        #expect(first.header("Cache-Control") == "no-cache" && first.header("Vary") == "Accept-Encoding")
        let tag = first.header("ETag") ?? ""
        #expect(tag.hasPrefix("\"") && tag.count > 4)
        for condition in [tag, "W/" + tag, "\"x\", " + tag, "*"] {
            let again = routes.get("/history.json", ["If-None-Match": condition])
            #expect(again.status == 304)
            #expect(again.header("ETag") == tag)
            #expect(again.bytes.isEmpty)
        }
        let other = routes.get("/history.json", ["If-None-Match": "\"x\""])
        #expect(other.status == 200)
        #expect(other.bytes == first.bytes)
        let gzip = routes.get("/history.json", ["Accept-Encoding": "gzip"])
        let gzipTag = gzip.header("ETag") ?? ""
        #expect(gzipTag.hasPrefix("W/\"") && gzipTag != tag && gzipTag != "W/" + tag)
        let gzipAgain = routes.get("/history.json", ["Accept-Encoding": "gzip", "If-None-Match": gzipTag])
        #expect(gzipAgain.status == 304 && gzipAgain.header("ETag") == gzipTag)
        let bad = routes.get("/history.json", query: "limit=0")
        #expect(bad.status == 400)
        #expect(bad.text == "{\"error\": \"query: limit is \\\"0\\\", expected a whole number, at least 1\"}\n")
    }

    @Test(arguments: [("GET", "", 200), ("GET", "limit=0", 400), ("PUT", "", 405)])
    func `Each JSON response names the allowed origin`(_ method: String, _ query: String, _ status: Int) throws {
        let request = HTTPRequest(method: method, path: "/history.json", query: query)
        let response = try server { $0.web.corsOrigin = "https://grafana.example" }.respond(to: request)
        #expect(response.status == status)
        #expect(response.header("Access-Control-Allow-Origin") == "https://grafana.example")
        #expect(try server().respond(to: request).header("Access-Control-Allow-Origin") == nil)
    }

    @Test func `Pages and histories are generated in turns`() throws {
        let paths = try server().filter { $0.turns != nil }.map(\.path)
        #expect(paths == ["/history.json", "/", "/city/", "/about"])
    }

    @Test func `The about page has the version and all paths, with links to those that have pages`() throws {
        let about = try server { $0.web.telemetryPath = "/x" }.get("/about").text
        #expect(about.contains("Air Quality Exporter \(BuildVersion.version)"))
        for path in ["/x", "/", "/?kiosk", "/about", "/history.json", "/events", "/-/healthy", "/-/ready"] {
            #expect(about.contains("<tr><td><a href=\".\(path)\">\(path)</a></td>"))
        }
        #expect(about.contains("<tr><td>/city/</td>") && !about.contains("<td>/-/"))
        let enabled = try server { $0.web.isLifecycleEnabled = true }.get("/about").text
        #expect(enabled.contains("<td>/-/reconnect</td><td>POST ") && enabled.contains("<td>/-/reload</td><td>POST "))
    }

    @Test(
        arguments: [
            ("/", "sort=worst", "query: sort is \"worst\", expected index, name or changed"),
            ("/", "category=7", "query: category is \"7\", expected a number from 1 to 6"),
            ("/", "category=", "query: category is \"\", expected a number from 1 to 6"),
            ("/", "page=0", "query: page is \"0\", expected a whole number, at least 1"),
            ("/", "search=%ff", "query: the value of \"search\" is not percent-encoded UTF-8"),
            ("/city/Mumbai", "chart=pie", "query: chart is \"pie\", expected line or bars"),
            ("/city/Mumbai", "from=-1", "query: from is \"-1\", expected milliseconds since the Unix epoch"),
            ("/city/Mumbai", "range=2h", "query: range is \"2h\", expected 3h, 24h or 7d"),
            ("/city/Mumbai", "range=3h&to=5", "query: range=3h is given with from or to, expected only one"),
            ("/city/Mumbai", "from=5&to=5", "query: from is 5, expected less than to, which is 5"),
        ])
    func `A malformed query for a page gets 400 and one line`(_ path: String, _ query: String, _ line: String) throws {
        let response = try server().get(path, query: query)
        #expect(response.status == 400)
        #expect(response.text == line + "\n")
    }

    @Test func `A page ignores unknown query parameters`() throws {
        #expect(try server().get("/", query: "utm=1&&x&sort=name&search=&%zz&%ff=1&ref=50%").status == 200)
    }

    @Test(arguments: ["from=140737488355327", "to=140737488355328", "from=140737488355327&to=140737488355328", "to=1"])
    func `A chart of any time is shown, and all its links work`(query: String) throws {
        let routes = try server()
        let page = routes.get("/city/Mumbai", query: query)
        #expect(page.status == 200)
        let links = page.text.matches(of: #/href="\?([^"#]*)#chart"/#)
            .map { String($0.1).replacing("&amp;", with: "&") }
        #expect(links.count > 5)
        for link in links { #expect(routes.get("/city/Mumbai", query: link).status == 200, "\(link)") }
    }

    @Test func `Names that look the same have different pages`() throws {
        let exporter = try exporter()
        var decoder = FeedDecoder(format: FeedFormat())
        let message = "[{\"city\":\"Caf\u{E9}\",\"aqi\":1},{\"city\":\"Cafe\u{301}\",\"aqi\":2}]"
        exporter.store.record(decoder.decode(Array(message.utf8).span, receivedAt: currentTime()), feed: 0)
        let routes = exporter.routes()
        #expect(routes.get("/city/Caf\u{E9}").text != routes.get("/city/Cafe\u{301}").text)
        #expect(routes.get("/city/Mumbai", query: "x").status == 200)
        #expect(routes.get("/city/Mumbai?x").status == 404)
    }

    @Test func `Accept headers that are equal only to Swift's String get their own formats`() throws {
        let routes = try server()
        let type = "application/openmetrics-text;version=1.0.0"
        // To Swift's String, U+037E equals a semicolon; to HTTP it does not.
        let other = routes.get("/metrics", ["Accept": type.replacing(";", with: "\u{37E}")])
        #expect(other.header("Content-Type")?.hasPrefix("text/plain") == true)
        #expect(routes.get("/metrics", ["Accept": type]).header("Content-Type")?.hasPrefix("application/") == true)
    }

    @Test func `A web configuration that was read before the server existed is read again`() throws {
        let directory = TemporaryDirectory()
        let path = directory.write("web.yml", "")
        let watcher = try WebConfigurationWatcher(path: path, logger: Logger(level: .error, write: { _ in }))
        directory.write("web.yml", "http_server_config:\n  headers: {X-Frame-Options: deny}")
        #expect(watcher.reload() == nil)
        #expect(watcher.check() == true)
    }

    @Test func `A web configuration that stays invalid is logged once`() throws {
        let directory = TemporaryDirectory()
        let path = directory.write("web.yml", "")
        let lines = WrittenLines()
        let watcher = try WebConfigurationWatcher(path: path, logger: Logger(level: .error, write: lines.append))
        let address = ListenAddress.tcp(host: "127.0.0.1", port: 0)
        let server = try HTTPServer(configuration: HTTPServerConfiguration(addresses: [address], routes: []))
        watcher.follow(server)
        directory.write("web.yml", "x: y")
        for _ in 0..<3 { #expect(watcher.check() == false) }
        #expect(lines.text.ranges(of: "keeping the previous one").count == 1)
        #expect(server.stop(within: .zero))
    }

    @Test func `The assets of the page are immutable, compressed and within their size limits`() throws {
        let routes = try server()
        let page = routes.get("/")
        let policy = try #require(page.header("Content-Security-Policy"))
        #expect(
            policy == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
        #expect(page.header("Vary") == "Accept, Accept-Encoding")
        let folder = PageAssets(scale: .india).folder
        for (name, limit) in [("page.css", 18_000), ("page.js", 25_000), ("icon.svg", 1000), ("icon.png", 8000)] {
            #expect(page.text.contains("=\".\(folder)\(name)\""))
            let file = routes.get(folder + name)
            #expect(file.status == 200 && file.bytes.count <= limit)
            #expect(file.header("Cache-Control") == "public, max-age=31536000, immutable")
            let small = routes.get(folder + name, ["Accept-Encoding": "gzip"])
            #expect(small.header("Content-Encoding") == "gzip" && small.bytes.starts(with: [0x1F, 0x8B]))
        }
    }
}

extension [Route] {
    fileprivate func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let route = first(where: { $0.matches(request.path) }) else {
            return HTTPResponse(status: 404, line: "not found")
        }
        return route.completed(route.response(to: request))
    }

    fileprivate func get(
        _ path: String, query: String = "", _ fields: KeyValuePairs<String, String> = [:]
    ) -> HTTPResponse {
        let fields = fields.map { HTTPField(name: $0.key, value: $0.value) }
        return respond(to: HTTPRequest(path: path, query: query, fields: fields))
    }
}

extension HTTPResponse {
    var bytes: [UInt8] { Array(body.knownPieces.joined()) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
