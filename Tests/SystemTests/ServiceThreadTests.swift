import Synchronization
import TestSupport
import Testing

@testable import System

struct ServiceThreadTests {
    @Test func `Join waits until the thread's body has returned`() throws {
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
        thread.join()  // joining again does nothing
    }

    @Test(arguments: [("feed", "feed\n"), ("a name that is too long", "a name that is \n")])
    func `A thread has its name, truncated to 15 bytes`(name: String, expected: String) throws {
        let seen = Mutex<[UInt8]>([])
        let thread = try ServiceThread(name: name) {
            let comm = (try? readFileBlocking("/proc/thread-self/comm", limit: 100)) ?? []
            seen.withLock { $0 = comm }
        }
        thread.join()
        #expect(seen.withLock { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `A thread's body and what it captures are released after it returns`() throws {
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

    @Test func `An impossible stack size is an error`() {
        let error = #expect(throws: SystemError.self) { try ServiceThread(name: "huge", stackBytes: 1 << 60) {} }
        #expect(error?.reason.hasPrefix("cannot start the thread huge: ") == true)
    }
}
