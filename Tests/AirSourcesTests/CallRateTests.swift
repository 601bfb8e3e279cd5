import Testing

@testable import AirSources

struct CallRateTests {
    @Test(arguments: DataSource.all) func `The default rate stays within the source's limits`(source: DataSource) {
        let rate = source.rate
        func most(in period: Duration) -> Double { Double(rate.calls) + Double(rate.calls) * (period / rate.period) }
        let allowed: [(Duration, Double)] =
            switch source {
            case .openMeteo: [(.seconds(60), 600), (.seconds(3600), 5000), (.seconds(86_400), 10_000)]
            case .waqi: [(.seconds(60), 1000)]
            case .openaq: [(.seconds(60), 60), (.seconds(3600), 2000)]
            default: []
            }
        for (period, calls) in allowed { #expect(most(in: period) <= calls, "\(period)") }
    }
}
