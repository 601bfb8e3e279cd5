import Testing

@testable import System

struct ClockWatchTests {
    @Test(
        arguments: [
            (10_000, 10_000, nil), (10_999, 10_000, nil), (9001, 10_000, nil), (0, 0, nil),
            (3_610_000, 10_000, ClockStep(size: 3_600_000, elapsed: 10_000)),
            (11_000, 10_000, ClockStep(size: 1000, elapsed: 10_000)),
            (-3_590_000, 10_000, ClockStep(size: -3_600_000, elapsed: 10_000)),
        ] as [(Int64, Int64, ClockStep?)])
    func `A wall clock step is detected by the monotonic clock`(wall: Int64, elapsed: Int64, expected: ClockStep?) {
        let start: Int64 = 1_795_236_585_000
        var watch = ClockWatch(wall: start, monotonic: .seconds(77))
        let now = Duration.seconds(77) + .milliseconds(elapsed)
        #expect(watch.step(wall: start + wall, monotonic: now) == expected)
        #expect(watch.step(wall: start + wall + 500, monotonic: now + .milliseconds(500)) == nil)
    }
}
