import HTTPServer
import System
import TestSupport
import Testing
import WebConfiguration

@testable import AirQualityExporter

@Suite("The watcher of the web configuration")
struct WebConfigurationWatcherTests {
    private let directory = TemporaryDirectory()
    private let lines = WrittenLines()

    /// What was logged, without time and place.
    private var messages: [String] {
        lines.text.split(separator: "\n").map { String($0.split(separator: "\"")[1]) }
    }

    private func watcher() throws -> WebConfigurationWatcher {
        try WebConfigurationWatcher(
            path: directory.file("web.yml"), logger: Logger(write: lines.append))
    }

    private func write(header value: String) {
        directory.write("web.yml", "http_server_config: {headers: {X-Frame-Options: \(value)}}")
    }

    @Test("puts a changed file in force, and leaves the last good one in force while the file is bad")
    func changes() throws {
        write(header: "deny")
        let watcher = try watcher()
        #expect(watcher.first.headers.map(\.value) == ["deny"])
        let configuration = HTTPServerConfiguration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
        let server = try HTTPServer(configuration: configuration) { _ in HTTPResponse(status: 200, line: "well") }
        watcher.follow(server)
        guard case .tcp(_, let port) = server.addresses[0] else { throw SystemError(.address, "no TCP address") }
        func value() throws -> String? { try RawHTTPClient(port: port).request("/").value("X-Frame-Options") }

        var expected: [String] = []
        watcher.poll()
        #expect(messages == expected, "nothing has changed")
        write(header: "sameorigin")
        watcher.poll()
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "sameorigin")

        directory.write("web.yml", "bad: [")
        watcher.poll()
        watcher.poll()
        expected.append("Web configuration is bad: the last good one stays in force")
        #expect(messages == expected, "the same problem is logged once")
        #expect(watcher.reload()?.contains("web.yml") == true)
        expected.append("Web configuration is bad: the last good one stays in force")
        #expect(try messages == expected && value() == "sameorigin", "a reload that was asked for logs it again")

        directory.remove("web.yml")
        watcher.poll()
        expected.append("Web configuration is bad: the last good one stays in force")
        #expect(messages == expected, "another problem")
        write(header: "deny")
        watcher.poll()
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "deny")
    }

    @Test("ends the start when the file is bad, and watches nothing without a file")
    func start() throws {
        let error = #expect(throws: SystemError.self) { try watcher() }
        #expect(error?.reason.contains("web.yml") == true)
        let none = try WebConfigurationWatcher(path: nil, logger: Logger())
        #expect(none.isEmpty && none.reload() == nil)
    }
}
