import Glibc
import Synchronization
import TestSupport
import Testing

@testable import System

@Suite struct ServiceThreadTests {
    @Test("join waits for the body") func joins() throws {
        let gate = Gate()
        let done = Atomic(false)
        let thread = try ServiceThread(name: "waits") {
            gate.wait()
            done.store(true, ordering: .releasing)
        }
        let early = done.load(ordering: .acquiring)
        gate.open()
        thread.join()
        let late = done.load(ordering: .acquiring)
        #expect(!early && late)
        thread.join()  // once more does nothing
    }

    @Test("the thread has its name", arguments: [("feed", "feed\n"), ("a name that is too long", "a name that is \n")])
    func names(name: String, expected: String) throws {
        let seen = Mutex<[UInt8]>([])
        let thread = try ServiceThread(name: name) {
            let comm = (try? readFileBlocking("/proc/thread-self/comm", limit: 100)) ?? []
            seen.withLock { $0 = comm }
        }
        thread.join()
        #expect(seen.withLock { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("the body and what it holds go when it has returned") func releases() throws {
        final class Held: Sendable {}
        weak var held: Held?
        do {
            let object = Held()
            held = object
            let thread = try ServiceThread(name: "holds") { _ = object }
            thread.join()
        }
        #expect(held == nil)
    }

    @Test("an impossible stack is an error") func impossible() {
        let error = #expect(throws: SystemError.self) { try ServiceThread(name: "huge", stackBytes: 1 << 60) {} }
        #expect(error?.reason.hasPrefix("cannot start the thread huge: ") == true)
    }
}

@Suite struct WakePipeTests {
    /// Of its own, because `#expect` cannot take a call of what cannot be copied.
    final class Shared: Sendable {
        let pipe: WakePipe
        init() throws { pipe = try WakePipe() }
        func wakes(within limit: Duration) -> Bool { pipe.wait(limit) }
    }

    @Test("a wake ends the wait, also one that comes before it") func wakes() throws {
        let shared = try Shared()
        #expect(!shared.wakes(within: .zero))
        shared.pipe.wake()
        shared.pipe.wake()
        #expect(shared.wakes(within: .seconds(60)))
        #expect(shared.wakes(within: .zero), "it stays awake until it is cleared")
        shared.pipe.clear()
        #expect(!shared.wakes(within: .milliseconds(1)))
    }

    @Test("any number of wakes is one, and none blocks") func many() throws {
        let shared = try Shared()
        for _ in 0..<100_000 { shared.pipe.wake() }
        #expect(shared.wakes(within: .zero))
        shared.pipe.clear()
        #expect(!shared.wakes(within: .zero))
    }

    @Test("another thread wakes one that waits") func threads() throws {
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
