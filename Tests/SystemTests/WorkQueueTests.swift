import Synchronization
import TestSupport
import Testing

@testable import System

struct WorkQueueTests {
    @Test func `A queue runs the oldest work first and rejects work beyond its limit`() {
        let queue = WorkQueue(name: "test", limit: 3)
        let entered = Gate()
        let gate = Gate()
        let done = Mutex<[Int]>([])
        let isHeld = queue.submit {
            entered.open()
            gate.wait()
        }
        #expect(isHeld)
        entered.wait()
        let accepted = (1...4).map { number in queue.submit { done.withLock { $0.append(number) } } }
        #expect(accepted == [true, true, true, false])
        gate.open()
        eventually("the end of all accepted work") { done.withLock { $0 } == [1, 2, 3] }
        let isAccepted = queue.submit { done.withLock { $0.append(5) } }
        #expect(isAccepted)
        eventually("the end of the later work") { done.withLock { $0.last } == 5 }
    }

    @Test func `A queue keeps its thread for later work`() {
        let queue = WorkQueue(name: "test", limit: 3)
        let threads = Mutex<Set<[UInt8]>>([])
        for number in 1...5 {
            let done = Gate()
            let isAccepted = queue.submit {
                threads.withLock { _ = $0.insert(Self.currentThread()) }
                done.open()
            }
            #expect(isAccepted, "\(number)")
            done.wait()
            queue.waitUntilIdle(within: .seconds(30))
        }
        #expect(threads.withLock(\.count) == 1)
    }

    @Test func `A queue has threads for the work that hangs`() {
        let queue = WorkQueue(name: "test", limit: 1, threads: 3)
        let gate = Gate()
        let entered = [Gate(), Gate(), Gate()]
        for started in entered {
            let isAccepted = queue.submit {
                started.open()
                gate.wait()
            }
            #expect(isAccepted)
            started.wait()
        }
        let waits = queue.submit {}
        let isFull = !queue.submit {}
        #expect(waits && isFull)
        for _ in entered { gate.open() }
        queue.waitUntilIdle(within: .seconds(30))
        let isAccepted = queue.submit {}
        #expect(isAccepted)
    }

    /// The kernel's statistics of the calling thread begin with its id.
    private static func currentThread() -> [UInt8] {
        let text = (try? readFileBlocking("/proc/thread-self/stat", limit: 4096)) ?? []
        return Array(text.prefix { $0 != UInt8(ascii: " ") })
    }

    @Test func `A queue runs work from many threads one at a time and loses none`() throws {
        let queue = WorkQueue(name: "test", limit: .max)
        let state = Monitor<(running: Int, most: Int, done: Int)>((0, 0, 0))
        let threads = try (0..<4).map { _ in
            try ServiceThread(name: "client") {
                for _ in 0..<500 {
                    _ = queue.submit {
                        state.change { $0.running += 1 }
                        state.change { $0.most = max($0.most, $0.running) }
                        state.change { ($0.running, $0.done) = ($0.running - 1, $0.done + 1) }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        eventually("the end of all work") { state.read(\.done) == 2000 }
        #expect(state.read(\.most) == 1)
    }
}
