public import AirQuality

/// A place's hourly concentrations in µg/m³. Hours are numbered from the Unix epoch.
public struct HourlyConcentrations: Sendable {
    /// Number of hours, up to the newest, in which a value counts as current: values may arrive late.
    static let newestHours = 3

    private let values: [Pollutant: [Int: Double]]

    /// - Parameter values: concentrations by hour, each valid by `Pollutant.isConcentration`.
    public init(_ values: [Pollutant: [Int: Double]]) { self.values = values }

    /// The newest hour with a value of any pollutant.
    public var newestHour: Int? { values.values.lazy.flatMap(\.keys).max() }

    /// Returns each pollutant's newest value within the three hours up to `hour`.
    public func newest(at hour: Int) -> [Pollutant: Double] {
        values.compactMapValues { hours in (0..<Self.newestHours).lazy.compactMap { hours[hour - $0] }.first }
    }

    func newest(of pollutant: Pollutant, at hour: Int) -> Double? { newest(at: hour)[pollutant] }

    /// Returns the mean of the hours with a value; `nil` if fewer than `least` have one.
    func mean(of pollutant: Pollutant, endingAt hour: Int, hours: Int, least: Int) -> Double? {
        let present = window(of: pollutant, endingAt: hour, hours: hours).compactMap(\.self)
        return present.count >= least ? present.reduce(0, +) / Double(present.count) : nil
    }

    /// Returns EPA's NowCast of particulate matter (EPA-454/B-24-002, "How the NowCast is calculated"): a weighted mean
    /// of the newest twelve hours, in which older hours count less the more the values vary. `nil` unless two of the
    /// newest three hours have a value.
    func nowCast(of pollutant: Pollutant, endingAt hour: Int) -> Double? {
        let window = window(of: pollutant, endingAt: hour, hours: 12)
        let present = window.compactMap(\.self)
        guard window.prefix(3).compactMap(\.self).count >= 2, let low = present.min(), let high = present.max() else {
            return nil
        }
        let weight = high > 0 ? max(low / high, 0.5) : 1
        var sum = 0.0
        var weights = 0.0
        var power = 1.0
        for value in window {
            if let value {
                sum += value * power
                weights += power
            }
            power *= weight
        }
        return sum / weights
    }

    /// Returns the value of each hour, newest first.
    private func window(of pollutant: Pollutant, endingAt hour: Int, hours: Int) -> [Double?] {
        let values = values[pollutant] ?? [:]
        return (0..<hours).map { values[hour - $0] }
    }
}

extension Pollutant {
    public var isParticulateMatter: Bool { self == .pm25 || self == .pm10 }

    /// µg/m³ per ppb at EPA's reference conditions (40 CFR 50.3): 25 °C and 1013 hPa, where a mole of air occupies
    /// 24.45 litres. `nil` for particulate matter, which is not a single substance.
    public var microgramsPerPPB: Double? {
        switch self {
        case .pm25, .pm10: nil
        case .no2: 46.0055 / 24.45
        case .so2: 64.066 / 24.45
        case .o3: 47.9982 / 24.45
        case .co: 28.0101 / 24.45
        case .nh3: 17.0305 / 24.45
        }
    }
}
