import Synchronization
import TestSupport
import Testing

@testable import System

struct MonitorTests {
    @Test func `Changes wake every waiting thread`() throws {
        let monitor = Monitor(0)
        let seen = Mutex<[Int]>([])
        let threads = try (1...10).map { number in
            try ServiceThread(name: "waiter") {
                let value = monitor.wait { $0 >= number ? $0 : nil }
                seen.withLock { $0.append(value ?? -1) }
            }
        }
        for _ in 1...10 { monitor.change { $0 += 1 } }
        for thread in threads { thread.join() }
        #expect(seen.withLock { $0.count { $0 > 0 } } == 10)
        #expect(monitor.read(\.self) == 10)
    }

    @Test func `A wait ends at its deadline`() {
        let monitor = Monitor(0)
        let start = monotonicTime()
        let result = monitor.wait(until: start + .milliseconds(30)) { $0 > 0 ? $0 : nil }
        #expect(result == nil && monotonicTime() - start >= .milliseconds(30))
        #expect(monitor.wait(until: .zero) { _ in 7 } == 7)
    }
}
