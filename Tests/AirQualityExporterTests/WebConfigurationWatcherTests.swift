import Bytes
import HTTPServer
import HTTPText
import System
import TestSupport
import Testing
import WebConfiguration

@testable import AirQualityExporter

struct WebConfigurationWatcherTests {
    private let directory = TemporaryDirectory()
    private let lines = WrittenLines()

    /// What was logged, without time and place.
    private var messages: [String] { lines.text.split(separator: "\n").map { String($0.split(separator: "\"")[1]) } }

    private func watcher() throws -> WebConfigurationWatcher {
        try WebConfigurationWatcher(path: directory.file("web.yml"), logger: Logger(write: lines.append))
    }

    private func write(header value: String) {
        directory.write("web.yml", "http_server_config: {headers: {X-Frame-Options: \(value)}}")
    }

    @Test func `A changed file is put in force, and a bad one leaves the last good one in force`() throws {
        write(header: "deny")
        let watcher = try watcher()
        #expect(watcher.initial.headers.map(\.value) == ["deny"])
        let configuration = HTTPServerConfiguration(
            addresses: [.tcp(host: "127.0.0.1", port: 0)],
            routes: [Route("/") { _ in HTTPResponse(status: 200, line: "well") }])
        let server = try HTTPServer(configuration: configuration)
        watcher.follow(server)
        guard case .tcp(_, let port) = server.addresses[0] else { throw SystemError(.address, "no TCP address") }
        func value() throws -> String? { try RawHTTPClient(port: port).request("/").value("X-Frame-Options") }

        var expected: [String] = []
        #expect(watcher.check() == nil)
        #expect(messages == expected, "nothing has changed")
        write(header: "sameorigin")
        #expect(watcher.check() == true)
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "sameorigin")
        #expect(watcher.reload() == nil)
        expected.append("Web configuration unchanged")
        #expect(try messages == expected && value() == "sameorigin")

        directory.write("web.yml", "bad: [")
        #expect(watcher.check() == false)
        #expect(watcher.check() == false)
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(messages == expected, "the same problem is logged once")
        #expect(watcher.reload()?.contains("web.yml") == true)
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(try messages == expected && value() == "sameorigin", "a reload that was asked for logs it again")

        directory.remove("web.yml")
        #expect(watcher.check() == false)
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(messages == expected, "another problem")
        write(header: "deny")
        #expect(watcher.check() == true)
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "deny")
    }
}
