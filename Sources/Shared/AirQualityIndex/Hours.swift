/// Concentrations of a pollutant in µg/m³ by hour, numbered from the Unix epoch.
public struct Hours: Equatable, Sendable {
    public private(set) var values: [Int: Double]

    public init(_ values: [Int: Double] = [:]) { self.values = values }

    public subscript(hour: Int) -> Double? {
        get { values[hour] }
        set { values[hour] = newValue }
    }

    /// Returns the newest value within the three hours up to `hour`, which count as current: values may arrive late.
    public func newest(at hour: Int) -> Double? { window(endingAt: hour, hours: 3).lazy.compactMap(\.self).first }

    /// Returns the mean of the hours with a value; `nil` if fewer than `least` have one.
    func mean(endingAt hour: Int, hours: Int, least: Int) -> Double? {
        let present = window(endingAt: hour, hours: hours).compactMap(\.self)
        return present.count >= least ? present.reduce(0, +) / Double(present.count) : nil
    }

    /// Returns EPA's NowCast of particulate matter (EPA-454/B-24-002, "How the NowCast is calculated"): a weighted mean
    /// of the newest twelve hours, in which older hours count less the more the values vary. `nil` unless two of the
    /// newest three hours have a value.
    func nowCast(endingAt hour: Int) -> Double? {
        let window = window(endingAt: hour, hours: 12)
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
    private func window(endingAt hour: Int, hours: Int) -> [Double?] { (0..<hours).map { self[hour - $0] } }
}
