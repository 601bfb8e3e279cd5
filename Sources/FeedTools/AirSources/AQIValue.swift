internal import AirQuality
internal import Bytes

/// A value that a source gives as an AQI or a sub-index.
enum AQIValue: Equatable {
    case value(Double)
    /// Marked by the source as absent: blank, `NA`, `N/A` or `-`.
    case missing
    /// Not a number, or out of range.
    case unusable

    /// - Parameter text: the value as written by the source.
    init(_ text: String) {
        if ["", "-", "NA", "N/A", "NULL", "NONE"].contains(trimmed(text[...]).uppercased()) {
            self = .missing
        } else if let value = looseNumber(text), AQIRange.isValid(value) {
            self = .value(value)
        } else {
            self = .unusable
        }
    }
}
