import Bytes
import HTTPServer
import HTTPText
import Synchronization
import System
import TestSupport
import Testing
import WebConfiguration

@testable import AirQualityExporter

@Suite("The watcher of the web configuration") struct WebConfigurationWatcherTests {
    private let directory = TemporaryDirectory()
    private let lines = WrittenLines()

    /// What was logged, without time and place.
    private var messages: [String] { lines.text.split(separator: "\n").map { String($0.split(separator: "\"")[1]) } }

    private func watcher(onRead: @escaping @Sendable () -> Void = {}) throws -> WebConfigurationWatcher {
        try WebConfigurationWatcher(
            path: directory.file("web.yml"), logger: Logger(write: lines.append),
            queue: WorkQueue(name: "test", limit: 8), onRead: onRead)
    }

    private func write(header value: String) {
        directory.write("web.yml", "http_server_config: {headers: {X-Frame-Options: \(value)}}")
    }

    @Test("puts a changed file in force, and leaves the last good one in force while the file is bad")
    func changes() throws {
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
        watcher.check()
        #expect(messages == expected, "nothing has changed")
        write(header: "sameorigin")
        watcher.check()
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "sameorigin")
        #expect(watcher.reload() == nil)
        expected.append("Web configuration unchanged")
        #expect(try messages == expected && value() == "sameorigin")

        directory.write("web.yml", "bad: [")
        watcher.check()
        watcher.check()
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(messages == expected, "the same problem is logged once")
        #expect(watcher.reload()?.contains("web.yml") == true)
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(try messages == expected && value() == "sameorigin", "a reload that was asked for logs it again")

        directory.remove("web.yml")
        watcher.check()
        expected.append("Error loading web configuration: keeping the previous one")
        #expect(messages == expected, "another problem")
        write(header: "deny")
        watcher.check()
        expected.append("Web configuration loaded")
        #expect(try messages == expected && value() == "deny")
    }

    @Test("ends the start when the file is bad, and watches nothing without a file") func start() throws {
        let error = #expect(throws: SystemError.self) { try watcher() }
        #expect(error?.reason.contains("web.yml") == true)
        let none = try WebConfigurationWatcher(path: nil, logger: Logger(), queue: WorkQueue(name: "test", limit: 8))
        #expect(!none.hasFile && none.reload() == nil)
    }

    private final class Reloads: Sendable {
        let isFirst = Atomic(true)
        let hasRead, mayGoOn, hasEnded: WakePipe

        init() throws {
            hasRead = try WakePipe()
            mayGoOn = try WakePipe()
            hasEnded = try WakePipe()
        }
    }

    @Test("has the newest file in force after a reload that has read an older one is overtaken") func race() throws {
        write(header: "deny")
        let reloads = try Reloads()
        let watcher = try watcher {
            guard reloads.isFirst.exchange(false, ordering: .relaxed) else { return }
            reloads.hasRead.wake()
            _ = reloads.mayGoOn.wait(.seconds(60))
        }
        let configuration = HTTPServerConfiguration(
            addresses: [.tcp(host: "127.0.0.1", port: 0)],
            routes: [Route("/") { _ in HTTPResponse(status: 200, line: "well") }])
        let server = try HTTPServer(configuration: configuration)
        watcher.follow(server)
        guard case .tcp(_, let port) = server.addresses[0] else { throw SystemError(.address, "no TCP address") }
        let older = try ServiceThread(name: "older") { _ = watcher.reload() }
        let isRead = reloads.hasRead.wait(.seconds(60))
        #expect(isRead)
        write(header: "sameorigin")
        let newer = try ServiceThread(name: "newer") {
            _ = watcher.reload()
            reloads.hasEnded.wake()
        }
        // It must not come first; where it could, it would have by then.
        let isOvertaken = reloads.hasEnded.wait(.milliseconds(300))
        #expect(!isOvertaken)
        reloads.mayGoOn.wake()
        older.join()
        newer.join()
        #expect(try RawHTTPClient(port: port).request("/").value("X-Frame-Options") == "sameorigin")
    }

    @Test("reads nothing that is no regular file, and goes on without it") func pipe() throws {
        write(header: "deny")
        let watcher = try watcher()
        directory.remove("web.yml")
        directory.makePipe("web.yml")
        #expect(watcher.reload()?.hasSuffix("web.yml: it is not a regular file") == true)
        directory.remove("web.yml")
        write(header: "sameorigin")
        eventually("a check that finds the file again") {
            watcher.poll(at: .zero)
            return messages.last == "Web configuration loaded"
        }
        #expect(messages.count == 2)
    }
}
