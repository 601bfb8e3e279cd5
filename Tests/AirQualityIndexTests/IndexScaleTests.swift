import AirQuality
import Testing

@testable import AirQualityIndex

/// Air whose newest hour is 1000; values newest first, nil where an hour is missing.
private func air(_ values: [Pollutant: [Double?]]) -> [Pollutant: Hours] { values.mapValues(hours) }

private func sparse(_ value: Double, present: Int, of hours: Int) -> [Double?] {
    (0..<hours).map { $0 < present ? value : nil }
}

private func µg(_ ppb: Double, _ pollutant: Pollutant) -> Double { ppb * (pollutant.microgramsPerPPB ?? .nan) }

struct IndianIndexTests {
    private static let others: [Pollutant: [Double?]] = [.no2: steady(40), .so2: steady(20)]
    private static let low: [Pollutant: [Double?]] = [.pm10: steady(10), .no2: steady(1)]

    private func aqi(_ values: [Pollutant: [Double?]]) throws -> Double {
        try IndexScale.india.indices(of: air(values), at: 1000).aqi
    }

    /// Two pollutants, the others, and the index if there is one.
    @Test(
        arguments: [
            ("the greatest sub-index", others, [.pm25: steady(45)], 75),
            ("the mean of a day", others, [.pm25: steady(30, hours: 12) + steady(60, hours: 12)], 75),
            ("sixteen of 24 hours", others, [.pm25: sparse(60, present: 16, of: 24)], 100),
            ("fifteen of 24 hours", others, [.pm25: sparse(60, present: 15, of: 24)], nil),
            ("no particulate matter", others, [.co: steady(500), .nh3: steady(10)], nil),
            // 2 mg/m³ in the newest eight hours; the hours before do not count.
            ("eight hours of carbon monoxide", low, [.co: steady(2000, hours: 8) + steady(90_000, hours: 16)], 100),
            ("six of eight hours", low, [.co: sparse(2000, present: 6, of: 8)], 100),
            ("five of eight hours", low, [.co: sparse(2000, present: 5, of: 8)], nil),
            ("eight hours of ozone", low, [.o3: steady(168, hours: 8)], 200),
            ("ozone of 208", low, [.o3: steady(208, hours: 8)], 300),
            ("ozone above 208: the newest hour", low, [.o3: [748] + steady(250, hours: 7)], 400),
            ("ozone above 208: the end of its class at least", low, [.o3: [100] + steady(250, hours: 7)], 300),
            ("a high hour of ozone where the mean is below", low, [.o3: [748] + steady(50, hours: 7)], 155),
            ("above 500", others, [.pm25: steady(900)], 899),
            ("19.5, for which the calculation gives slightly less", low, [.pm25: steady(11.7)], 20),
        ] as [(String, [Pollutant: [Double?]], [Pollutant: [Double?]], Double?)])
    func `The Indian index is the greatest sub-index, rounded, if three pollutants have enough hours`(
        name: String, two: [Pollutant: [Double?]], others: [Pollutant: [Double?]], expected: Double?
    ) {
        #expect((try? aqi(two.merging(others) { $1 })) == expected)
    }

    @Test func `Without three pollutants there is no index, and the reason lists those there are`() throws {
        let error = try #require(throws: AirUnavailable.self) { try aqi([.pm25: steady(60), .no2: steady(40)]) }
        #expect(
            "\(error)" == "pm2_5, no2 have enough hours, the index india needs three pollutants with 16 of 24 hours "
                + "(o3 and co: 6 of 8), one of them pm2_5 or pm10")
        let none = try #require(throws: AirUnavailable.self) { try aqi([:]) }
        #expect("\(none)".hasPrefix("none has enough hours, the index india needs "))
    }
}

struct AmericanIndexTests {
    /// The example of EPA's Technical Assistance Document: 0.078 ppm of ozone, 35.9 µg/m³ of PM2.5 and 8.4 ppm of
    /// carbon monoxide.
    @Test(
        arguments: [
            ("EPA's ozone", [.o3: steady(µg(78.5333, .o3))], 126), ("EPA's PM2.5", [.pm25: steady(35.9)], 102),
            ("EPA's carbon monoxide", [.co: steady(µg(8400.1, .co))], 90),
            ("37.5, for which the calculation gives slightly less", [.co: steady(µg(3300.1, .co))], 38),
            ("all three", [.o3: steady(µg(78.5333, .o3)), .pm25: steady(35.9), .co: steady(µg(8400.1, .co))], 126),
            ("PM10 is truncated", [.pm10: steady(54.9)], 50), ("PM10 of 604.9", [.pm10: steady(604.9)], 500),
            ("PM10 of 605", [.pm10: steady(605)], 501),
            ("NO2 is the newest hour in ppb", [.no2: [µg(100.5, .no2)] + steady(0)], 100),
            ("NO2 two hours ago", [.no2: [nil, nil, µg(53.2, .no2)]], 50),
            ("NO2 three hours ago", [.no2: [nil, nil, nil] + steady(50)], nil),
            ("eight hours of ozone", [.o3: steady(µg(70.5, .o3), hours: 8)], 100),
            ("an hour of ozone, whose table begins at 125 ppb", [.o3: [µg(164.5, .o3)] + steady(0, hours: 7)], 150),
            ("an hour of ozone below it", [.o3: [µg(124.5, .o3)] + steady(0, hours: 7)], 14),
            // Above 200 ppb the hour alone decides, and 300 is the least.
            ("ozone above 200 ppb", [.o3: [µg(504.5, .o3)] + steady(µg(250, .o3), hours: 7)], 400),
            ("ozone above 200 ppb at least", [.o3: [µg(130.5, .o3)] + steady(µg(250, .o3), hours: 7)], 300),
            ("five hours of ozone", [.o3: sparse(µg(150, .o3), present: 5, of: 8)], nil),
            ("SO2", [.so2: steady(µg(75.5, .so2))], 100),
            ("SO2 above 304 ppb until the day says more", [.so2: [µg(400, .so2)] + steady(0)], 200),
            ("SO2 of one hour", [.so2: [µg(400, .so2)]], 200), ("SO2 of a day", [.so2: steady(µg(604.5, .so2))], 300),
            ("ammonia", [.nh3: steady(1000)], nil),
        ] as [(String, [Pollutant: [Double?]], Double?)])
    func `The US index is the greatest sub-index`(name: String, values: [Pollutant: [Double?]], expected: Double?) {
        #expect((try? IndexScale.us.indices(of: air(values), at: 1000).aqi) == expected)
    }

    @Test(arguments: [
        (9.0, 50.0), (9.09, 50), (9.1, 51), (35.4, 100), (35.49, 100), (55.4, 150), (125.4, 200), (225.4, 300),
    ])
    func `PM2.5 is truncated to a tenth`(concentration: Double, expected: Double) throws {
        #expect(try IndexScale.us.indices(of: air([.pm25: steady(concentration)]), at: 1000).aqi == expected)
    }
}

struct EuropeanIndexTests {
    @Test(
        arguments: [
            ([.pm25: [4.99, 900], .no2: [1], .o3: [1]], 19), ([.pm25: [5], .no2: [1], .o3: [1]], 20),
            ([.pm10: [nil, 270], .no2: [1], .o3: [1]], 100),
            ([.pm10: [1], .no2: [1], .o3: [1], .so2: [275]], 100), ([.pm25: [5], .no2: [1]], nil),
            ([.so2: [5], .no2: [1], .o3: [1]], nil),
            ([.pm25: [5], .no2: [1], .o3: [1], .co: [90_000], .nh3: [5000]], 20),
        ] as [([Pollutant: [Double?]], Double?)])
    func `The European index uses the newest hour, rounded down`(values: [Pollutant: [Double?]], expected: Double?) {
        #expect((try? IndexScale.eu.indices(of: air(values), at: 1000).aqi) == expected)
    }
}
