/// Range of accepted indices, 0 … 9999.
public enum AQIRange {
    public static let maximum = 9999.0

    public static func isValid(_ number: Double) -> Bool { number >= 0 && number <= maximum }
}
