import Glibc
import Testing

@testable import System

struct WakePipeTests {
    @Test func `A pipe is readable from the first of any number of wakes until it is cleared`() throws {
        let pipe = try WakePipe()
        func isReadable() -> Bool {
            var polled = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&polled, 1, 0) == 1
        }
        var states = [isReadable()]
        for count in [1, 100_000] {
            for _ in 0..<count { pipe.wake() }
            states.append(isReadable())
            pipe.clear()
            states.append(isReadable())
        }
        #expect(states == [false, true, false, true, false])
    }
}
