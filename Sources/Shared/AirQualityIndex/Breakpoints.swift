internal import AirQuality

/// The breakpoints as published by the three authorities.
enum Breakpoints {
    // MARK: India

    /// Central Pollution Control Board, "National Air Quality Index" (2014), breakpoints for the scale 0 to 500: Good,
    /// Satisfactory, Moderately polluted, Poor, Very poor; Severe begins at 401 and is unbounded. Concentrations are
    /// 24-hour means in µg/m³, 8-hour means for ozone and carbon monoxide, the latter in mg/m³.
    static let india: [Pollutant: SubIndexCurve] = [
        .pm25: indian(upTo: [30, 60, 90, 120, 250]),
        .pm10: indian(upTo: [50, 100, 250, 350, 430]),
        .no2: indian(upTo: [40, 80, 180, 280, 400]),
        .so2: indian(upTo: [40, 80, 380, 800, 1600]),
        // Very poor and Severe are defined for 1-hour values.
        .o3: indian(upTo: [50, 100, 168, indianOzoneEnd, 748]),
        .co: indian(upTo: [1, 2, 10, 17, 34], step: 0.1),
        .nh3: indian(upTo: [200, 400, 800, 1200, 1800]),
    ]
    /// Highest ozone concentration that is rated by its 8-hour mean, in µg/m³.
    static let indianOzoneEnd = 208.0

    private static func indian(upTo ends: [Double], step: Double = 1) -> SubIndexCurve {
        // Severe continues the slope of Very poor up to 500.
        SubIndexCurve(
            [0...50, 51...100, 101...200, 201...300, 301...400, 401...500], upTo: ends + [2 * ends[4] - ends[3]],
            step: step)
    }

    // MARK: United States

    /// Environmental Protection Agency, EPA-454/B-24-002 (May 2024), table 6: Good, Moderate, Unhealthy for Sensitive
    /// Groups, Unhealthy, Very Unhealthy, Hazardous. Concentrations are truncated to the step before lookup.
    static let pm25 = american(upTo: [9.0, 35.4, 55.4, 125.4, 225.4, 325.4], step: 0.1)  // µg/m³
    static let pm10 = american(upTo: [54, 154, 254, 354, 424, 604], step: 1)  // µg/m³
    static let co = american(upTo: [4.4, 9.4, 12.4, 15.4, 30.4, 50.4], step: 0.1)  // ppm, 8 hours
    static let no2 = american(upTo: [53, 100, 360, 649, 1249, 2049], step: 1)  // ppb, 1 hour
    // The first four classes use the 1-hour value, the others the 24-hour mean.
    static let so2 = american(upTo: [35, 75, 185, so2HourEnd, 604, 1004], step: 1)  // ppb
    static let so2HourEnd = 304.0
    // The table has ppm with three decimals, which are whole ppb.
    static let ozone8Hours = american(upTo: [54, 70, 85, 105, ozone8HoursEnd], step: 1)  // ppb
    static let ozone8HoursEnd = 200.0
    static let ozoneHour = SubIndexCurve(
        Array(americanClasses[2...]), from: 125, upTo: [164, 204, 404, 604], step: 1)  // ppb

    private static let americanClasses = [0...50, 51...100, 101...150, 151...200, 201...300, 301...500.0]

    private static func american(upTo ends: [Double], step: Double) -> SubIndexCurve {
        SubIndexCurve(americanClasses, upTo: ends, step: step)
    }

    // MARK: Europe

    /// European Environment Agency, European Air Quality Index, limits since 2024/25: Good, Fair, Moderate, Poor, Very
    /// poor; Extremely poor is above. A value at a limit belongs to the next class. Concentrations are 1-hour values in
    /// µg/m³. The official AQI has class names only; as in Open-Meteo's numbering, each class spans 20 points.
    static let europe: [Pollutant: SubIndexCurve] = [
        .pm25: european(upTo: [5, 15, 50, 90, 140]),
        .pm10: european(upTo: [15, 45, 120, 195, 270]),
        .no2: european(upTo: [10, 25, 60, 100, 150]),
        .o3: european(upTo: [60, 100, 120, 160, 180]),
        .so2: european(upTo: [20, 40, 125, 190, 275]),
    ]

    private static func european(upTo ends: [Double]) -> SubIndexCurve {
        SubIndexCurve([0...20, 20...40, 40...60, 60...80, 80...100], upTo: ends, step: 0)
    }
}
