import Glibc
import TestSupport
import Testing

@testable import System

struct WakePipeTests {
    /// Of its own, because `#expect` cannot take a call of what cannot be copied.
    final class Shared: Sendable {
        let pipe: WakePipe
        init() throws { pipe = try WakePipe() }
        func wakes(within limit: Duration) -> Bool { pipe.wait(limit) }
    }

    @Test func `A wake ends the wait, also one that comes before it`() throws {
        let shared = try Shared()
        #expect(!shared.wakes(within: .zero))
        shared.pipe.wake()
        shared.pipe.wake()
        #expect(shared.wakes(within: .seconds(60)))
        #expect(shared.wakes(within: .zero), "it stays awake until it is cleared")
        shared.pipe.clear()
        #expect(!shared.wakes(within: .milliseconds(1)))
    }

    @Test func `Any number of wakes is one, and none blocks`() throws {
        let shared = try Shared()
        for _ in 0..<100_000 { shared.pipe.wake() }
        #expect(shared.wakes(within: .zero))
        shared.pipe.clear()
        #expect(!shared.wakes(within: .zero))
    }

    @Test func `A thread wakes another that waits`() throws {
        let shared = try Shared()
        let gate = Gate()
        let thread = try ServiceThread(name: "wakes") {
            gate.wait()
            shared.pipe.wake()
        }
        gate.open()
        #expect(shared.wakes(within: .seconds(60)))
        thread.join()
    }
}
