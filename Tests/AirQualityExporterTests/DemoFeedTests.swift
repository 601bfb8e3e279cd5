import Foundation
import System
import TestSupport
import Testing

@testable import AirQualityExporter

struct DemoFeedTests {
    @Test func `The demo's thread sleeps while no client is connected`() throws {
        let demo = try DemoFeed()
        let thread = try ServiceThread(name: "demo-test", body: demo.run)
        defer {
            demo.stop()
            thread.join()
        }
        eventually("the thread to wait") { lines(ofThread: "demo-test").contains("State:\tS (sleeping)") }
        let before = lines(ofThread: "demo-test")
        pauseThread(for: .milliseconds(200))
        // Among them the number of times that the thread has waited.
        #expect(before.filter { $0.contains("ctxt_switches") }.count == 2)
        #expect(lines(ofThread: "demo-test") == before)
    }

    /// The lines of the kernel's status of a thread of this process.
    private func lines(ofThread name: String) -> [Substring] {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let texts = threads.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/status", encoding: .utf8) }
        let lines = texts.map { $0.split(separator: "\n") }
        let own = lines.first { $0.first == "Name:\t\(name)" } ?? []
        return own.filter { $0.hasPrefix("State:") || $0.contains("ctxt_switches:") }
    }
}
