import Testing

@testable import WebConfiguration

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
        ]
    }

    @Test(arguments: Case.all) func `A bucket gives a token or none`(_ scenario: Case) {
        var bucket = TokenBucket(interval: scenario.interval, burst: scenario.burst, now: .zero)
        for (index, request) in scenario.requests.enumerated() {
            #expect(bucket.take(at: .milliseconds(request.at)) == request.isAdmitted, "request \(index)")
        }
    }
}
