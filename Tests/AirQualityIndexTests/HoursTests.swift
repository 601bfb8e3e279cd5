import Testing

@testable import AirQualityIndex

/// Values newest first, the newest at the hour 1000; nil where an hour is missing.
func hours(_ values: [Double?]) -> Hours {
    Hours(
        Dictionary(
            uniqueKeysWithValues: values.enumerated().compactMap { age, value in value.map { (1000 - age, $0) } }))
}

/// The same value in each of a number of hours.
func steady(_ value: Double, hours: Int = 24) -> [Double?] { Array(repeating: value, count: hours) }

struct HoursTests {
    /// EPA, "Computing the NowCast": 13, 16, 10, 21, 74, 64, 53, 82, 90, 75, 80, 50 µg/m³, newest first, give 17.4.
    @Test func `The NowCast of EPA's published example is as printed`() throws {
        let values: [Double?] = [13, 16, 10, 21, 74, 64, 53, 82, 90, 75, 80, 50]
        let nowCast = try #require(hours(values).nowCast(endingAt: 1000))
        #expect((nowCast * 10).rounded() == 174)
    }

    @Test(
        arguments: [
            ("air that does not change", steady(40), 40), ("no dust", steady(0), 0),
            ("none of the newest two hours", [nil, nil] + steady(10), nil),
            ("one of the newest three hours", [nil, 10, nil, 10], nil), ("two of them", [10, nil, 10], 10),
            ("hours beyond the newest twelve", steady(10, hours: 12) + [9000], 10),
            // Weight 0.5: (10 + 20 × 0.25) / (1 + 0.25).
            ("a missing hour keeps the weight of the others' ages", [10, nil, 20], 12),
        ] as [(String, [Double?], Double?)])
    func `The NowCast is a weighted mean of twelve hours`(name: String, values: [Double?], expected: Double?) {
        #expect(hours(values).nowCast(endingAt: 1000) == expected)
    }
}
