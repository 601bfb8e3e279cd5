internal import AirQuality
internal import AirQualityIndex

/// A sensor of OpenAQ, which measures one pollutant of a station, and what it has measured.
///
/// Since 18 February 2025 India's NO2 and SO2 come in µg/m³ and its CO in mg/m³, all of them labelled ppb.
struct OpenAQSensor {
    /// India's carbon monoxide in mg/m³ is below this, and no city's is as low in ppb.
    private static let indianMonoxide = 50.0

    let id: Int
    let pollutant: Pollutant
    /// Micrograms per cubic metre of one unit of the sensor.
    private let factor: Double
    /// Its carbon monoxide is labelled ppb, and in mg/m³ when it is low.
    private let isIndianMonoxide: Bool
    /// The hours of the last response.
    private(set) var hours = PollutantHours()
    /// The last response had no hour with a value.
    private(set) var isStale = false
    /// Whether the round has yet to hear of it.
    var isPending = false
    /// The number of rounds in a row in which it was given up.
    private(set) var timesGivenUp = 0

    /// - Returns: `nil` in an unknown unit.
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
        // The micro sign, and the Greek letter.
        case "\u{B5}g/m\u{B3}", "\u{3BC}g/m\u{B3}", "ug/m3": 1
        case "mg/m\u{B3}", "mg/m3": 1000
        case "ppb": pollutant.microgramsPerPPB
        case "ppm": pollutant.microgramsPerPPB.map { $0 * 1000 }
        default: nil
        }
    }

    mutating func giveUp() {
        isPending = false
        timesGivenUp += 1
    }

    /// Replaces what is known by a response's hours, each named by its end. Returns what was left out or changed.
    mutating func read(_ results: [JSONNode], in city: PolledCity, at now: Int64) -> Set<Omission> {
        isPending = false
        timesGivenUp = 0
        hours = PollutantHours()
        let values = results.map { $0["value"].looseNumber }
        let isInMilligrams = isIndianMonoxide && values.allSatisfy { ($0 ?? 0) < Self.indianMonoxide }
        for (result, value) in zip(results, values) {
            switch result["period"]["datetimeTo"]["utc"].universalTime {
            case nil: hours.leaveOut("hours without a time that can be read")
            case let end? where end > now + 3600: hours.leaveOut("hours in the future")
            // The hour under way, whose value is not the last one.
            case let end? where end > now: continue
            case let end?: hours.add(value.map { $0 * (isInMilligrams ? 1000 : factor) }, at: Int(end / 3600))
            }
        }
        isStale = hours.values.isEmpty
        if isStale { hours.leaveOut("sensors without an hour of the last day") }
        if pollutant.isParticulateMatter { hours.leaveOutSpikes() }
        return hours.omissions(of: pollutant, in: city)
    }
}
