public import AirQuality

/// An authority's rules for computing an AQI from concentrations.
public enum IndexScale: String, CaseIterable, Sendable {
    /// Central Pollution Control Board, 2014: 24-hour means of at least 16 values; for ozone and carbon monoxide,
    /// 8-hour means of at least 6. High ozone uses the newest hour.
    case india
    /// Environmental Protection Agency, 2024: NowCast for particulate matter, 8-hour means of at least 6 values for
    /// ozone (or its newest hour, if worse) and carbon monoxide, the newest hour otherwise; high SO2 uses 24 hours.
    case us
    /// European Air Quality Index, 2024/25: the newest hour.
    case eu

    /// The feed's `basis` of an AQI on this scale.
    public var basis: String {
        switch self {
        case .india: "24h"
        case .us: "nowcast"
        case .eu: "1h"
        }
    }

    /// Whether the AQI has sub-indices of the pollutant.
    public func includes(_ pollutant: Pollutant) -> Bool {
        switch self {
        case .india: true
        case .us: pollutant != .nh3
        case .eu: Breakpoints.europe[pollutant] != nil
        }
    }

    /// Returns whether sub-indices of these pollutants suffice for an AQI.
    public func isEnough(_ pollutants: some Collection<Pollutant>) -> Bool {
        let hasParticles = pollutants.contains(where: \.isParticulateMatter)
        return switch self {
        case .india: hasParticles && pollutants.count >= 3
        case .us: !pollutants.isEmpty
        // The European Environment Agency's requirement for a station that is not a traffic station.
        case .eu: hasParticles && pollutants.contains(.no2) && pollutants.contains(.o3)
        }
    }

    private var needs: String {
        switch self {
        case .india: "three pollutants with 16 of 24 hours (o3 and co: 6 of 8), one of them pm2_5 or pm10"
        case .us: "one pollutant with enough hours"
        case .eu: "pm2_5 or pm10, no2 and o3 of the newest three hours"
        }
    }

    /// Returns the sub-indices at an hour, and the AQI, which is the greatest of them. They are rounded to whole
    /// numbers as the authorities do, except that `eu` rounds down, so that none gets into the next class.
    ///
    /// - Parameters:
    ///   - air: concentrations, each valid by `Pollutant.isConcentration`.
    ///   - hour: the newest hour to use.
    /// - Throws: a description of the missing data, if it does not suffice for an AQI.
    public func indices(
        of air: [Pollutant: Hours], at hour: Int
    ) throws(AirUnavailable) -> (aqi: Double, subIndices: [Pollutant: Double]) {
        var subIndices: [Pollutant: Double] = [:]
        for (pollutant, hours) in air {
            // With tolerance for halves, which binary fractions cannot represent exactly.
            subIndices[pollutant] = subIndex(of: pollutant, hours, at: hour)
                .map { ($0 + 1e-9).rounded(self == .eu ? .down : .toNearestOrAwayFromZero) }
        }
        guard isEnough(subIndices.keys), let greatest = subIndices.values.max() else {
            let present = Pollutant.allCases.filter { subIndices[$0] != nil }
            let list = present.isEmpty ? "none has" : present.map(\.rawValue).joined(separator: ", ") + " have"
            throw AirUnavailable("\(list) enough hours, the index \(rawValue) needs \(needs)")
        }
        return (greatest, subIndices)
    }

    /// Returns the unrounded sub-index; `nil` if the scale does not include the pollutant or hours are missing.
    private func subIndex(of pollutant: Pollutant, _ hours: Hours, at hour: Int) -> Double? {
        switch self {
        case .india: indian(pollutant, hours, hour)
        case .us: american(pollutant, hours, hour)
        case .eu: hours.newest(at: hour).flatMap { Breakpoints.europe[pollutant]?.subIndex($0) }
        }
    }

    private func indian(_ pollutant: Pollutant, _ hours: Hours, _ hour: Int) -> Double? {
        let isShort = pollutant == .o3 || pollutant == .co
        let mean = hours.mean(endingAt: hour, hours: isShort ? 8 : 24, least: isShort ? 6 : 16)
        guard let mean, let curve = Breakpoints.india[pollutant] else { return nil }
        switch pollutant {
        case .co: return curve.subIndex(mean / 1000)
        case .o3 where mean > Breakpoints.indianOzoneEnd:
            return greater(curve.subIndex(Breakpoints.indianOzoneEnd), hours.newest(at: hour).flatMap(curve.subIndex))
        default: return curve.subIndex(mean)
        }
    }

    private func american(_ pollutant: Pollutant, _ hours: Hours, _ hour: Int) -> Double? {
        let weight = pollutant.microgramsPerPPB ?? 1
        let newest = hours.newest(at: hour).map { $0 / weight }
        let mean8Hours = hours.mean(endingAt: hour, hours: 8, least: 6).map { $0 / weight }
        switch pollutant {
        case .pm25: return hours.nowCast(endingAt: hour).flatMap(Breakpoints.pm25.truncatedSubIndex)
        case .pm10: return hours.nowCast(endingAt: hour).flatMap(Breakpoints.pm10.truncatedSubIndex)
        case .co: return mean8Hours.flatMap { Breakpoints.co.truncatedSubIndex($0 / 1000) }
        case .no2: return newest.flatMap(Breakpoints.no2.truncatedSubIndex)
        case .so2:
            // One hour gives at most 200; above that the 24-hour mean decides ("Calculating AQI values for SO2").
            let end = Breakpoints.so2HourEnd
            guard let newest, Breakpoints.so2.truncated(newest) > end else {
                return newest.flatMap(Breakpoints.so2.truncatedSubIndex)
            }
            let mean = hours.mean(endingAt: hour, hours: 24, least: 18) ?? 0
            return Breakpoints.so2.truncatedSubIndex(max(end, mean / weight))
        case .o3:
            // The 1-hour table begins at a higher concentration, and continues beyond the end of the 8-hour table.
            guard let mean8Hours else { return nil }
            let ofMean = Breakpoints.ozone8Hours.truncatedSubIndex(min(mean8Hours, Breakpoints.ozone8HoursEnd))
            return greater(ofMean, newest.flatMap(Breakpoints.ozoneHour.truncatedSubIndex))
        case .nh3: return nil
        }
    }

    private func greater(_ one: Double?, _ other: Double?) -> Double? { [one, other].compactMap(\.self).max() }
}
