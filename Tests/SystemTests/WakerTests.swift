import Glibc
import Testing

@testable import System

struct WakerTests {
    @Test func `A waker is readable from its first wake until it is cleared`() throws {
        let waker = try Waker()
        func isReadable() -> Bool {
            var polled = pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&polled, 1, 0) == 1
        }
        var states = [isReadable()]
        for count in [1, 100_000] {
            for _ in 0..<count { waker.wake() }
            states.append(isReadable())
            waker.clear()
            states.append(isReadable())
        }
        #expect(states == [false, true, false, true, false])
    }
}
