/// What the air of a city holds of each pollutant, as its feed says it: µg/m³.
struct Concentrations: Sendable {
    /// The closed set, in the order of the page: members of the feed's object, values of the label `pollutant`.
    static let pollutants = ["pm2_5", "pm10", "no2", "so2", "o3", "co", "nh3"]
    static let maximum = 1e6

    /// In the order of ``pollutants``; NaN where nothing is known.
    private var values = InlineArray<7, Double>(repeating: .nan)

    /// - Parameter pollutant: its place among ``pollutants``.
    subscript(pollutant: Int) -> Double? {
        get { values[pollutant].isNaN ? nil : values[pollutant] }
        set { values[pollutant] = newValue ?? .nan }
    }

    /// The number, if it is one that can be.
    static func accepted(_ number: Double) -> Double? {
        // Adding 0 makes 0 of -0.
        number >= 0 && number <= maximum ? number + 0 : nil
    }
}
