import TestSupport
import Testing

@testable import WebSocket

struct ReconnectPolicyTests {
    @Test(arguments: [0, 0.25, 0.5, 0.999])
    func `The wait is a random share of a bound that doubles up to the maximum`(random: Double) {
        var policy = ReconnectPolicy(minimum: .seconds(1), maximum: .seconds(8))
        let delays = (0..<5).map { _ in policy.delay(connectedFor: nil, retryAfter: nil, random: random) }
        #expect(delays == [1, 2, 4, 8, 8].map { .seconds($0) * random })
    }

    @Test(
        arguments: [(nil, 0.5), (.zero, 0.5), (.milliseconds(200), 0.5), (.seconds(90), 90), (.seconds(100_000), 300)]
            as [(Duration?, Double)])
    func `Retry-After is a lower bound for the wait, up to five minutes`(retryAfter: Duration?, seconds: Double) {
        var policy = ReconnectPolicy(minimum: .seconds(1), maximum: .seconds(8))
        #expect(policy.delay(connectedFor: nil, retryAfter: retryAfter, random: 0.5) == .seconds(seconds))
    }

    @Test func `A minimum of zero becomes 10 ms, and the minimum wins over a smaller maximum`() {
        #expect(ReconnectPolicy(minimum: .zero, maximum: .zero).bound == .milliseconds(10))
        #expect(ReconnectPolicy(minimum: .seconds(9), maximum: .seconds(1)).bound == .seconds(9))
    }
}
