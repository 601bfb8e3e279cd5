import Glibc
import Synchronization
import Testing

@testable import Transport

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
            let comm = (try? readFile("/proc/thread-self/comm", limit: 100)) ?? []
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
        let error = #expect(throws: TransportError.self) {
            try ServiceThread(name: "huge", stackBytes: 1 << 60) {}
        }
        #expect(error?.reason.hasPrefix("cannot start the thread huge: ") == true)
    }
}

/// Holds a thread until it is opened, once for each `wait`.
///
/// @unchecked: a POSIX semaphore is made for several threads, and its memory lives as long as this object.
@safe final class Gate: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
    }

    func open() {
        unsafe sem_post(semaphore)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }
}
