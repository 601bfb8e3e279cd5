internal import Bytes

/// A number for each pollutant of which one is known.
public struct PollutantValues: Sendable {
    /// Fields of the feed's object, and values of the label `pollutant`.
    public static let pollutants = Pollutant.allCases.map(\.rawValue)

    /// Values in the order of ``pollutants``; NaN where nothing is known.
    private var values = InlineArray<7, Double>(repeating: .nan)

    /// The value of the pollutant with this place among ``pollutants``; `nil` when nothing is known.
    public subscript(pollutant: Int) -> Double? {
        get { values[pollutant].isNaN ? nil : values[pollutant] }
        set { values[pollutant] = newValue ?? .nan }
    }

    /// The place among ``pollutants`` of the one with this name; `nil` when there is none.
    static func place(of name: Span<UInt8>) -> Int? {
        pollutants.firstIndex { bytesEqual($0.utf8Span.span, name) }
    }

    /// The place among ``pollutants`` of the one with the greatest value; `nil` when nothing is known.
    public var greatest: Int? { Self.pollutants.indices.filter { self[$0] != nil }.max { values[$0] < values[$1] } }
}
