import Glibc
import Synchronization
import TestSupport
import Testing

@testable import System

/// Signals are sent to the one thread that awaits them, so the test runner's own threads never see them.
struct SignalsTests {
    @Test(arguments: [(SIGTERM, Signals.Signal.terminate), (SIGINT, .terminate), (SIGHUP, .hangUp)])
    func `Each signal is reported once and as the right case`(number: Int32, expected: Signals.Signal) throws {
        #expect(
            try onOwnThread { signals in
                pthread_kill(pthread_self(), number)
                return [signals.wait(for: nil), signals.wait(for: .zero)]
            } == [expected, nil])
    }

    @Test func `Signals that arrive before the wait are kept`() throws {
        let seen = try onOwnThread { signals in
            pthread_kill(pthread_self(), SIGHUP)
            pthread_kill(pthread_self(), SIGTERM)
            return [signals.wait(for: .seconds(60)), signals.wait(for: .seconds(60))]
        }
        #expect(seen.contains(.hangUp) && seen.contains(.terminate))
    }

    @Test func `A wait for a signal ends at its time-out`() throws {
        let waited = Mutex(Duration.zero)
        let seen = try onOwnThread { signals in
            let start = monotonicTime()
            let signal = signals.wait(for: .milliseconds(20))
            waited.withLock { $0 = monotonicTime() - start }
            return [signal]
        }
        #expect(seen == [nil])
        #expect(waited.withLock { $0 } >= .milliseconds(20))
    }

    @Test func `A wake from another thread ends the wait`() throws {
        let waker = Mutex<Signals?>(nil)
        let ready = Gate()
        let seen = Mutex<[Signals.Signal?]>([.terminate])
        let over = Gate()
        let thread = try ServiceThread(name: "waits") {
            let signals = Signals(reloads: true)
            waker.withLock { $0 = signals }
            ready.open()
            let signal = signals.wait(for: nil)
            seen.withLock { $0 = [signal] }
            over.wait()  // a wake needs its thread alive
        }
        ready.wait()
        waker.withLock { $0 }?.wake()
        over.open()
        thread.join()
        #expect(seen.withLock { $0 } == [nil])
    }

    @Test func `Several wakes before a wait count as one`() throws {
        #expect(
            try onOwnThread { signals in
                signals.wake()
                signals.wake()
                let woken = signals.wait(for: nil)
                pthread_kill(pthread_self(), SIGTERM)
                return [woken, signals.wait(for: nil)]
            } == [nil, .terminate])
    }

    @Test func `Writing to a closed pipe is an error and raises no signal`() throws {
        _ = try onOwnThread { _ in [] }
        var ends: [Int32] = [0, 0]
        unsafe pipe(&ends)
        close(ends[0])
        #expect(unsafe write(ends[1], "x", 1) == -1 && errno == EPIPE)
        close(ends[1])
    }

    private func onOwnThread(_ body: @escaping @Sendable (Signals) -> [Signals.Signal?]) throws -> [Signals.Signal?] {
        let result = Mutex<[Signals.Signal?]>([])
        let thread = try ServiceThread(name: "signals") {
            let signals = body(Signals(reloads: true))
            result.withLock { $0 = signals }
        }
        thread.join()
        return result.withLock { $0 }
    }
}
