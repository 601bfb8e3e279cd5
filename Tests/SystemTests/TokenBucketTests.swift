import Testing

@testable import System

@Suite struct TokenBucketTests {
    /// The interval, the burst, and the milliseconds of each request with whether it gets a token.
    @Test(
        arguments: [
            ("full at the start", .seconds(1), 2, [(0, true), (0, true), (0, false)]),
            (
                "a token each interval", .seconds(1), 1,
                [(0, true), (999, false), (1000, true), (1001, false), (2000, true)]
            ),
            ("rejections cost nothing", .seconds(1), 1, [(0, true), (500, false), (900, false), (1000, true)]),
            (
                "never more than the burst", .milliseconds(1), 2,
                [(0, true), (1_000_000, true), (1_000_000, true), (1_000_000, false)]
            ),
            (
                "parts of tokens add up", .seconds(1), 3,
                [(0, true), (0, true), (0, true), (0, false), (1500, true), (1500, false), (2000, true)]
            ),
            ("no burst, no request", .seconds(1), 0, [(0, false), (5000, false)]),
            ("a clock that stands still", .nanoseconds(1), 1, [(5, true), (5, false), (4, false)]),
            ("the longest interval and the largest burst", .nanoseconds(Int64.max), .max, [(0, true), (0, true)]),
        ] as [(String, Duration, Int, [(Int, Bool)])])
    func `A bucket grants or denies a token`(name: String, interval: Duration, burst: Int, requests: [(Int, Bool)]) {
        var bucket = TokenBucket(burst, each: interval)
        for (index, (time, isAdmitted)) in requests.enumerated() {
            #expect(bucket.take(at: .milliseconds(time)) == isAdmitted, "\(name), request \(index)")
        }
    }

    @Test func `A full bucket may be spent at once, and tokens come back over time`() {
        var bucket = TokenBucket(10, each: .seconds(1))
        let delays = [(10, 0), (1, 0), (5, 2), (5, 5), (10, 1000), (1, 1000)].map { count, second in
            let delay = bucket.delay(for: count, at: .seconds(second))
            if delay == .zero { bucket.spend(count, at: .seconds(second)) }
            return delay
        }
        #expect(delays == [0, 1, 3, 0, 0, 1].map { .seconds($0) })
    }

    @Test func `Only whole tokens are counted`() {
        var bucket = TokenBucket(100, each: .milliseconds(600))
        bucket.spend(2, at: .zero)
        #expect(
            [0, 599, 600, 1199, 1200, 9000].map { bucket.count(at: .milliseconds($0)) } == [98, 98, 99, 99, 100, 100])
    }

    @Test func `A request for more tokens than the bucket holds waits until it is full`() {
        var bucket = TokenBucket(10, each: .seconds(1))
        bucket.spend(1, at: .zero)
        #expect(bucket.delay(for: 50, at: .zero) == .seconds(1))
        #expect(bucket.delay(for: 50, at: .seconds(1)) == .zero)
    }

    @Test func `After the clock goes back, tokens come back at the usual rate`() {
        var bucket = TokenBucket(each: .seconds(1))
        bucket.spend(1, at: .seconds(10))
        #expect(bucket.delay(for: 1, at: .seconds(5)) == .seconds(1))
        #expect(bucket.delay(for: 1, at: .seconds(6)) == .zero)
    }
}
