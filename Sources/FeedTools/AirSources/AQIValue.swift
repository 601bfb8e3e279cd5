internal import AirQuality
internal import Bytes

/// A value that a source gives as an index or a sub-index.
enum IndexValue: Equatable {
    case value(Double)
    /// Marked by the source as absent: blank, `NA`, `N/A` or `-`.
    case missing
    /// Not a number, or out of range.
    case unusable

    /// - Parameter text: the value as written by the source.
    init(_ text: String) {
        if ["", "-", "NA", "N/A", "NULL", "NONE"].contains(trimmed(text[...]).uppercased()) {
            self = .missing
        } else if let value = looseNumber(text), IndexRange.isValid(value) {
            self = .value(value)
        } else {
            self = .unusable
        }
    }
}
