/// The range of an Air Quality Index that is accepted, 0 … 9999.
public enum IndexRange {
    public static let maximum = 9999.0

    public static func isValid(_ number: Double) -> Bool { number >= 0 && number <= maximum }
}
