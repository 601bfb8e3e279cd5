import Glibc
import Testing

@testable import System

struct CurrentTimeTests {
    @Test func `The wall clock is in milliseconds since the epoch`() {
        let seconds = time(nil)
        let milliseconds = currentTime()
        #expect((Int64(seconds - 1) * 1000...Int64(seconds + 60) * 1000).contains(milliseconds))
    }

    @Test(
        arguments: [
            (.zero, 0), (.seconds(-5), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(30), 30_000), (.seconds(Int64.max), 2_000_000_000),
        ] as [(Duration, Int32)])
    func `Durations for poll are whole milliseconds, rounded up`(duration: Duration, expected: Int32) {
        #expect(duration.pollMilliseconds == expected)
    }

    @Test(
        arguments: [
            (.zero, [0, 0]), (.seconds(-5), [0, 0]), (.milliseconds(1500), [1, 500_000_000]),
            (.nanoseconds(7), [0, 7]),
        ] as [(Duration, [Int])])
    func `A duration becomes a timespec, and a negative one becomes zero`(duration: Duration, expected: [Int]) {
        let timespec = duration.timespec
        #expect([timespec.tv_sec, timespec.tv_nsec] == expected)
    }
}
