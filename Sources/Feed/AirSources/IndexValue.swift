internal import AirQuality
internal import Bytes

/// A value that a source gives as an index or a sub-index.
enum IndexValue: Equatable {
    case value(Double)
    /// The source says that it has none: blank, `NA`, `N/A` or `-`.
    case missing
    /// No number, or one out of range.
    case unusable

    /// - Parameter text: a number or text as the source writes it.
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
