import Synchronization
import TestSupport
import Testing

@testable import System

@Suite("A work queue") struct WorkQueueTests {
    /// Fills a queue while its thread waits, and lets go.
    private final class Bench: Sendable {
        let queue: WorkQueue
        private let isHeld = Mutex(false)
        private let gate = try! WakePipe()
        let done = Mutex<[String]>([])

        init(limit: Int = 1000, limitPerClient: Int = 1000) {
            queue = WorkQueue(name: "test", limit: limit, limitPerClient: limitPerClient)
            let isAccepted = queue.submit { [self] in
                isHeld.withLock { $0 = true }
                _ = gate.wait(.seconds(60))
            }
            #expect(isAccepted)
            eventually("the first work") { isHeld.withLock { $0 } }
        }

        func submit(_ name: String, isContinuation: Bool = false) -> Bool {
            queue.submit(for: Array(name.utf8.prefix(1)), isContinuation: isContinuation) { [self] in
                done.withLock { $0.append(name) }
            }
        }

        func finish(count: Int) -> [String] {
            gate.wake()
            eventually("the end of all") { done.withLock { $0.count } == count }
            return done.withLock { $0 }
        }
    }

    @Test("does the clients' work in turns, and of each the oldest first") func turns() {
        let bench = Bench()
        for name in ["a1", "a2", "a3", "a4", "b1", "c1", "b2"] { #expect(bench.submit(name)) }
        #expect(bench.finish(count: 7) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"])
    }

    @Test("has a limit for each client and one for all, but not for what continues") func limits() {
        let bench = Bench(limit: 4, limitPerClient: 2)
        #expect(bench.submit("a1") && bench.submit("a2") && !bench.submit("a3"))
        #expect(bench.submit("b1") && bench.submit("c1") && !bench.submit("d1"))
        #expect(bench.submit("a4", isContinuation: true) && bench.submit("d2", isContinuation: true))
        #expect(bench.queue.count == 6)
        #expect(bench.finish(count: 6) == ["a1", "b1", "c1", "d2", "a2", "a4"])
        #expect(bench.submit("a5"))
        eventually("what came later") { bench.done.withLock { $0.last } == "a5" }
    }

    @Test("loses nothing that comes from many threads, and does one thing at a time") func threads() throws {
        let queue = WorkQueue(name: "test", limit: .max, limitPerClient: .max)
        let running = Mutex(0)
        let most = Mutex(0)
        let done = Mutex(0)
        let threads = try (0..<4 as Range<UInt8>).map { client in
            try ServiceThread(name: "client") {
                for _ in 0..<500 {
                    _ = queue.submit(for: [client]) {
                        let now = running.withLock { running in
                            running += 1
                            return running
                        }
                        most.withLock { $0 = max($0, now) }
                        running.withLock { $0 -= 1 }
                        done.withLock { $0 += 1 }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        eventually("all of it") { done.withLock { $0 } == 2000 }
        #expect(most.withLock { $0 } == 1)
    }
}
