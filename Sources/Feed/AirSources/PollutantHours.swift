internal import AirQuality

/// A pollutant's concentrations in µg/m³ by hour since the Unix epoch, and why values are left out or changed.
struct PollutantHours {
    private(set) var values: [Int: Double] = [:]
    private(set) var reasons: Set<String> = []

    /// Takes in a value; `nil` for one that cannot be read. Instruments near zero drift below it: values from -5 to
    /// 0 µg/m³ count as 0. A second value of an hour replaces the first.
    mutating func add(_ concentration: Double?, at hour: Int) {
        guard var concentration else { return leaveOut("hours without a value that can be read") }
        if (-5..<0).contains(concentration) {
            reasons.insert("small negative values, which count as 0")
            concentration = 0
        }
        guard Pollutant.isConcentration(concentration) else { return leaveOut("hours with a value out of range") }
        values[hour] = concentration
    }

    mutating func leaveOut(_ reason: String) { reasons.insert(reason) }

    /// Leaves out hours in which an instrument for particulate matter was stuck at its maximum: above 300 µg/m³, and
    /// more than five times as much as the nearest hour before and the nearest one after, of three hours each. Where
    /// one of them is missing the other decides, so a real rise is believed an hour late; what lasts for two hours is
    /// always believed.
    mutating func leaveOutSpikes() {
        let hours = values
        let spikes = hours.filter { hour, value in
            let beside = [-1, 1].compactMap { step in (1...3).lazy.compactMap { hours[hour + step * $0] }.first }
            return value > 300 && value > 5 * (beside.max() ?? value)
        }
        for hour in spikes.keys {
            values[hour] = nil
            leaveOut("hours that are spikes")
        }
    }

    func omissions(of pollutant: Pollutant, in city: PolledCity) -> Set<Omission> {
        Set(reasons.map { Omission($0, "\(pollutant.rawValue) of \(city.name)") })
    }
}
