import Testing

@testable import AirSources

struct CallBudgetTests {
    @Test func `All calls may be made at once at first, then as they come back`() {
        var budget = CallBudget(CallRate(calls: 10, per: .seconds(10)))
        #expect(budget.delay(for: 10, at: 0) == 0)
        budget.spend(10)
        #expect(budget.delay(for: 1, at: 0) == 1000)
        #expect(budget.delay(for: 5, at: 2000) == 3000)
        #expect(budget.delay(for: 5, at: 5000) == 0)
        budget.spend(5)
        // No more than there may be at once.
        #expect(budget.delay(for: 10, at: 1_000_000) == 0)
        budget.spend(10)
        #expect(budget.delay(for: 1, at: 1_000_000) == 1000)
    }

    @Test func `A call that counts for more than there may be at once waits for a full bucket`() {
        var budget = CallBudget(CallRate(calls: 10, per: .seconds(10)))
        budget.spend(1)
        #expect(budget.delay(for: 50, at: 0) == 1000)
        #expect(budget.delay(for: 50, at: 1000) == 0)
    }

    @Test func `A clock that is set back stops nothing for good`() {
        var budget = CallBudget(CallRate(calls: 1, per: .seconds(1)))
        #expect(budget.delay(for: 1, at: 10_000) == 0)
        budget.spend(1)
        #expect(budget.delay(for: 1, at: 5000) == 1000)
        #expect(budget.delay(for: 1, at: 6000) == 0)
    }

    @Test(arguments: SourceName.allCases) func `No default goes beyond what the source allows`(source: SourceName) {
        let rate = source.rate
        func most(in period: Duration) -> Double { Double(rate.calls) + Double(rate.calls) * (period / rate.period) }
        let allowed: [(Duration, Double)] =
            switch source {
            case .openMeteo: [(.seconds(60), 600), (.seconds(3600), 5000), (.seconds(86_400), 10_000)]
            case .waqi: [(.seconds(60), 1000)]
            case .openaq: [(.seconds(60), 60), (.seconds(3600), 2000)]
            case .cpcb, .json: []
            }
        for (period, calls) in allowed { #expect(most(in: period) <= calls, "\(period)") }
    }
}
