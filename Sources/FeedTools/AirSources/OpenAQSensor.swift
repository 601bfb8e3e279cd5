internal import AirQuality
internal import AirQualityIndex

/// An OpenAQ sensor, which measures one pollutant at a station, with its latest values.
///
/// Since 18 February 2025 India's NO2 and SO2 are in µg/m³ and its CO in mg/m³, although all are labelled ppb.
struct OpenAQSensor {
    /// India's carbon monoxide is below this in mg/m³; no city's is this low in ppb.
    private static let indianMonoxide = 50.0

    let id: Int
    let pollutant: Pollutant
    /// Converts the sensor's unit to µg/m³.
    private let factor: Double
    /// Whether this is Indian carbon monoxide labelled ppb, whose low values are in mg/m³.
    private let isIndianMonoxide: Bool
    /// The hours of the last response that had any.
    private(set) var hours = Hours()
    /// Whether no hour of the last day is known.
    private(set) var isStale = false
    /// Number of consecutive rounds in which its query was given up.
    var timesGivenUp = 0

    /// - Returns: `nil` if the unit is unknown.
    init?(id: Int, _ pollutant: Pollutant, units: String, isIndian: Bool) {
        guard let factor = Self.factor(of: units, pollutant) else { return nil }
        let isMislabelled = isIndian && units == "ppb"
        self.id = id
        self.pollutant = pollutant
        self.factor = isMislabelled && [.no2, .so2].contains(pollutant) ? 1 : factor
        isIndianMonoxide = isMislabelled && pollutant == .co
    }

    private static func factor(of unit: String, _ pollutant: Pollutant) -> Double? {
        switch unit {
        // The micro sign and the Greek letter mu.
        case "\u{B5}g/m\u{B3}", "\u{3BC}g/m\u{B3}", "ug/m3": 1
        case "mg/m\u{B3}", "mg/m3": 1000
        case "ppb": pollutant.microgramsPerPPB
        case "ppm": pollutant.microgramsPerPPB.map { $0 * 1000 }
        default: nil
        }
    }

    /// Replaces the values with those of a response, if it has any; hours are labelled by their end. Returns what was
    /// left out.
    mutating func read(_ results: [JSONNode], in city: PolledCity, at now: Int64) -> Set<Omission> {
        timesGivenUp = 0
        var received = PollutantHours()
        let values = results.map { $0["value"].looseNumber }
        let isInMilligrams = isIndianMonoxide && values.allSatisfy { ($0 ?? 0) < Self.indianMonoxide }
        for (result, value) in zip(results, values) {
            switch result["period"]["datetimeTo"]["utc"].universalTime {
            case nil: received.leaveOut("hours without a time that can be read")
            case let end? where end > now + 3600: received.leaveOut("hours in the future")
            // The current hour, whose value is not final, and hours that were not requested.
            case let end? where end > now || end < now - 26 * 3600: continue
            case let end?: received.add(value.map { $0 * (isInMilligrams ? 1000 : factor) }, at: Int(end / 3600))
            }
        }
        if pollutant.isParticulateMatter { received.leaveOutSpikes() }
        // The request covers 25 hours, so an empty response is wrong while a known hour is of the last day.
        let isKnown = hours.values.keys.contains { $0 > Int(now / 3600) - 24 }
        if !received.hours.values.isEmpty || !isKnown { hours = received.hours }
        isStale = hours.values.isEmpty
        if isStale { received.leaveOut("sensors without an hour of the last day") }
        return received.omissions(of: pollutant, in: city)
    }
}
