import Testing

@testable import System

@Suite struct TokenBucketTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var interval: Duration
        var burst: Int
        /// Milliseconds of each request, and whether it gets a token.
        var requests: [(at: Int, isAdmitted: Bool)]
        var testDescription: String { name }

        static let all: [Case] = [
            Case(
                name: "full at the start", interval: .seconds(1), burst: 2,
                requests: [(0, true), (0, true), (0, false)]),
            Case(
                name: "a token each interval", interval: .seconds(1), burst: 1,
                requests: [(0, true), (999, false), (1000, true), (1001, false), (2000, true)]),
            Case(
                name: "rejections cost nothing", interval: .seconds(1), burst: 1,
                requests: [(0, true), (500, false), (900, false), (1000, true)]),
            Case(
                name: "never more than the burst", interval: .milliseconds(1), burst: 2,
                requests: [(0, true), (1_000_000, true), (1_000_000, true), (1_000_000, false)]),
            Case(
                name: "parts of tokens add up", interval: .seconds(1), burst: 5,
                requests: [
                    (0, true), (0, true), (0, true), (0, true), (0, true), (0, false), (1500, true), (1500, false),
                    (2000, true),
                ]),
            Case(name: "no burst, no request", interval: .seconds(1), burst: 0, requests: [(0, false), (5000, false)]),
            Case(
                name: "a clock that stands", interval: .nanoseconds(1), burst: 1,
                requests: [(5, true), (5, false), (4, false)]),
            Case(
                name: "the longest interval and the largest burst", interval: .nanoseconds(Int64.max), burst: .max,
                requests: [(0, true), (0, true)]),
        ]
    }

    @Test(arguments: Case.all) func `A bucket gives a token or none`(_ scenario: Case) {
        var bucket = TokenBucket(scenario.burst, each: scenario.interval)
        for (index, request) in scenario.requests.enumerated() {
            #expect(bucket.take(at: .milliseconds(request.at)) == request.isAdmitted, "request \(index)")
        }
    }

    @Test func `All tokens may be spent at once at first, then as they come back`() {
        var bucket = TokenBucket(10, each: .seconds(1))
        let delays = [(10, 0), (1, 0), (5, 2), (5, 5), (10, 1000), (1, 1000)].map { count, second in
            let delay = bucket.delay(for: count, at: .seconds(second))
            if delay == .zero { bucket.spend(count, at: .seconds(second)) }
            return delay
        }
        #expect(delays == [0, 1, 3, 0, 0, 1].map { .seconds($0) })
    }

    @Test func `Whole tokens are counted`() {
        var bucket = TokenBucket(100, each: .milliseconds(600))
        bucket.spend(2, at: .zero)
        #expect(
            [0, 599, 600, 1199, 1200, 9000].map { bucket.count(at: .milliseconds($0)) } == [98, 98, 99, 99, 100, 100])
    }

    @Test func `More tokens than the bucket holds wait for a full one`() {
        var bucket = TokenBucket(10, each: .seconds(1))
        bucket.spend(1, at: .zero)
        #expect(bucket.delay(for: 50, at: .zero) == .seconds(1))
        #expect(bucket.delay(for: 50, at: .seconds(1)) == .zero)
    }

    @Test func `A clock that is set back stops nothing for good`() {
        var bucket = TokenBucket(each: .seconds(1))
        bucket.spend(1, at: .seconds(10))
        #expect(bucket.delay(for: 1, at: .seconds(5)) == .seconds(1))
        #expect(bucket.delay(for: 1, at: .seconds(6)) == .zero)
    }
}
