internal import AirQuality
internal import AirQualityIndex

/// A pollutant's concentrations, and why values were left out or changed.
struct PollutantHours {
    private(set) var hours = Hours()
    private(set) var reasons: Set<String> = []

    /// Adds an hour's value, replacing an earlier one; `nil` stands for an unreadable value. Values from -5 to 0 µg/m³
    /// count as 0, because instruments drift below zero.
    mutating func add(_ concentration: Double?, at hour: Int) {
        guard var concentration else { return leaveOut("hours without a value that can be read") }
        if (-5..<0).contains(concentration) {
            reasons.insert("small negative values, which count as 0")
            concentration = 0
        }
        guard Pollutant.isConcentration(concentration) else { return leaveOut("hours with a value out of range") }
        hours[hour] = concentration
    }

    mutating func leaveOut(_ reason: String) { reasons.insert(reason) }

    /// Removes hours in which a particulate matter instrument was stuck at its maximum: values above 300 µg/m³ that are
    /// more than five times the nearest value before and after, each within three hours. If one of these is missing,
    /// the other decides, so a real rise is accepted an hour late; a rise that lasts two hours is always accepted.
    mutating func leaveOutSpikes() {
        let values = hours.values
        let spikes = values.filter { hour, value in
            let beside = [-1, 1].compactMap { step in (1...3).lazy.compactMap { values[hour + step * $0] }.first }
            return value > 300 && value > 5 * (beside.max() ?? value)
        }
        for hour in spikes.keys {
            hours[hour] = nil
            leaveOut("hours that are spikes")
        }
    }

    func omissions(of pollutant: Pollutant, in city: PolledCity) -> Set<Omission> {
        Set(reasons.map { Omission($0, "\(pollutant.rawValue) of \(city.name)") })
    }
}
