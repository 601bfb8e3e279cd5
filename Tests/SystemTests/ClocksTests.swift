import Glibc
import Testing

@testable import System

struct ClocksTests {
    @Test func `The wall clock is in milliseconds since the epoch`() {
        let seconds = time(nil)
        let milliseconds = currentTime()
        #expect((Int64(seconds - 1) * 1000...Int64(seconds + 60) * 1000).contains(milliseconds))
    }

    @Test func `Monotonic time does not go back`() {
        var last = monotonicTime()
        for _ in 0..<1000 {
            let now = monotonicTime()
            #expect(now >= last)
            last = now
        }
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
    func `Durations become a timespec, and negative ones zero`(duration: Duration, expected: [Int]) {
        let timespec = duration.timespec
        #expect([timespec.tv_sec, timespec.tv_nsec] == expected)
    }

    @Test(
        arguments: [
            (10_000, 10_000, nil), (10_999, 10_000, nil), (9001, 10_000, nil), (0, 0, nil),
            (3_610_000, 10_000, ClockStep(size: 3_600_000, elapsed: 10_000)),
            (11_000, 10_000, ClockStep(size: 1000, elapsed: 10_000)),
            (-3_590_000, 10_000, ClockStep(size: -3_600_000, elapsed: 10_000)),
        ] as [(Int64, Int64, ClockStep?)])
    func `A clock was set when it moved otherwise than the monotonic one`(
        wall: Int64, elapsed: Int64, expected: ClockStep?
    ) {
        let start: Int64 = 1_795_236_585_000
        var watch = ClockWatch(wall: start, monotonic: .seconds(77))
        let now = Duration.seconds(77) + .milliseconds(elapsed)
        #expect(watch.step(wall: start + wall, monotonic: now) == expected)
        #expect(watch.step(wall: start + wall + 500, monotonic: now + .milliseconds(500)) == nil)
    }
}
