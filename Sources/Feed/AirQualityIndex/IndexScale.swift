public import AirQuality

/// An authority's rules for computing an index from concentrations.
public enum IndexScale: String, CaseIterable, Sendable {
    /// Central Pollution Control Board, 2014: 24-hour means of at least 16 values; for ozone and carbon monoxide,
    /// 8-hour means of at least 6.
    case india
    /// Environmental Protection Agency, 2024: NowCast for particulate matter, 8-hour means of at least 6 values for
    /// ozone and carbon monoxide, the newest hour otherwise.
    case us
    /// European Air Quality Index, 2024/25: the newest hour.
    case eu

    /// The feed's `basis` of an index on this scale.
    public var basis: String {
        switch self {
        case .india: "24h"
        case .us: "nowcast"
        case .eu: "1h"
        }
    }

    /// Returns whether sub-indices of these pollutants suffice for an index.
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

    /// Returns the sub-indices at an hour, and the index, which is the greatest of them. They are rounded to whole
    /// numbers as the authorities do, except that `eu` rounds down, so that each stays in its class.
    ///
    /// - Parameter hour: the newest hour to use.
    /// - Throws: a description of the missing data, if it does not suffice for an index.
    public func indices(
        of air: HourlyConcentrations, at hour: Int
    ) throws(AirUnavailable) -> (index: Double, subIndices: [Pollutant: Double]) {
        var subIndices: [Pollutant: Double] = [:]
        for pollutant in Pollutant.allCases {
            subIndices[pollutant] = subIndex(of: pollutant, in: air, at: hour)?
                .rounded(self == .eu ? .down : .toNearestOrAwayFromZero)
        }
        guard isEnough(subIndices.keys), let greatest = subIndices.values.max() else {
            let present = Pollutant.allCases.filter { subIndices[$0] != nil }
            let list = present.isEmpty ? "none has" : present.map(\.rawValue).joined(separator: ", ") + " have"
            throw AirUnavailable("\(list) enough hours, the index \(rawValue) needs \(needs)")
        }
        return (greatest, subIndices)
    }

    /// Returns the unrounded sub-index; `nil` if the scale does not include the pollutant or hours are missing.
    func subIndex(of pollutant: Pollutant, in air: HourlyConcentrations, at hour: Int) -> Double? {
        switch self {
        case .india: indian(pollutant, air, hour)
        case .us: american(pollutant, air, hour)
        case .eu: air.newest(of: pollutant, at: hour).flatMap { Breakpoints.europe[pollutant]?.index($0) }
        }
    }

    private func indian(_ pollutant: Pollutant, _ air: HourlyConcentrations, _ hour: Int) -> Double? {
        guard let curve = Breakpoints.india[pollutant] else { return nil }
        let isShort = pollutant == .o3 || pollutant == .co
        let mean = air.mean(of: pollutant, endingAt: hour, hours: isShort ? 8 : 24, least: isShort ? 6 : 16)
        guard let mean else { return nil }
        switch pollutant {
        case .co: return curve.index(mean / 1000)
        case .o3 where mean > Breakpoints.indianOzoneEnd:
            return greater(curve.index(Breakpoints.indianOzoneEnd), air.newest(of: .o3, at: hour).flatMap(curve.index))
        default: return curve.index(mean)
        }
    }

    private func american(_ pollutant: Pollutant, _ air: HourlyConcentrations, _ hour: Int) -> Double? {
        func ppb(_ concentration: Double?) -> Double? {
            guard let concentration, let weight = pollutant.microgramsPerPPB else { return nil }
            return concentration / weight
        }
        func index(_ curve: SubIndexCurve, _ value: Double?, step: Double = 1) -> Double? {
            value.flatMap { curve.index(truncated($0, to: step)) }
        }
        let nowCast = air.nowCast(of: pollutant, endingAt: hour)
        let newest = ppb(air.newest(of: pollutant, at: hour))
        let mean8Hours = ppb(air.mean(of: pollutant, endingAt: hour, hours: 8, least: 6))
        switch pollutant {
        case .pm25: return index(Breakpoints.pm25, nowCast, step: 0.1)
        case .pm10: return index(Breakpoints.pm10, nowCast)
        case .co: return index(Breakpoints.co, mean8Hours.map { $0 / 1000 }, step: 0.1)
        case .no2: return index(Breakpoints.no2, newest)
        case .so2:
            // One hour gives at most 200; above that the 24-hour mean decides ("Calculating AQI values for SO2").
            let end = Breakpoints.so2HourEnd
            guard let newest, truncated(newest, to: 1) > end else { return index(Breakpoints.so2, newest) }
            return index(Breakpoints.so2, max(end, ppb(air.mean(of: .so2, endingAt: hour, hours: 24, least: 18)) ?? 0))
        case .o3:
            // The 1-hour table begins at a higher concentration, and continues beyond the end of the 8-hour table.
            guard let mean8Hours else { return nil }
            let ofMean = index(Breakpoints.ozone8Hours, min(mean8Hours, Breakpoints.ozone8HoursEnd))
            return greater(ofMean, index(Breakpoints.ozoneHour, newest))
        case .nh3: return nil
        }
    }

    private func greater(_ one: Double?, _ other: Double?) -> Double? { [one, other].compactMap(\.self).max() }

    /// Truncates to a multiple of the step, with tolerance for tenths, which binary fractions cannot represent exactly.
    private func truncated(_ value: Double, to step: Double) -> Double {
        let steps = (value / step + 1e-9).rounded(.down)
        return step == 1 ? steps : steps / (1 / step)
    }
}
