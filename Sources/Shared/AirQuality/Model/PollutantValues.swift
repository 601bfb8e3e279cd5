internal import Bytes

/// A number for each pollutant, if known.
public struct PollutantValues: Sendable {
    /// Field names in the feed's object, and values of the label `pollutant`.
    public static let pollutants = Pollutant.allCases.map(\.rawValue)

    /// In the order of ``pollutants``; NaN if unknown.
    private var values = InlineArray<7, Double>(repeating: .nan)

    /// The value of the pollutant at this position in ``pollutants``; `nil` if unknown.
    public subscript(pollutant: Int) -> Double? {
        get { values[pollutant].isNaN ? nil : values[pollutant] }
        set { values[pollutant] = newValue ?? .nan }
    }

    static func place(of name: Span<UInt8>) -> Int? {
        pollutants.firstIndex { bytesEqual($0.utf8Span.span, name) }
    }

    /// Position in ``pollutants`` of the greatest value; `nil` if all are unknown.
    public var greatest: Int? { Self.pollutants.indices.filter { self[$0] != nil }.max { values[$0] < values[$1] } }
}
