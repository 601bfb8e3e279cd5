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

    /// Returns the index of a pollutant by any of its usual names: case, `_`, `.`, `-` and blanks do not count.
    static func index(of name: Span<UInt8>) -> Int? {
        guard name.count <= 16 else { return nil }
        var plain: [UInt8] = []
        for index in name.indices where !"_.- ".utf8.contains(name[index]) { plain.append(lowercase(name[index])) }
        return names.firstIndex { $0.utf8.elementsEqual(plain) }
            ?? (plain.elementsEqual("ozone".utf8) ? names.firstIndex(of: "o3") : nil)
    }

    private static let names = pollutants.map { $0.replacing("_", with: "") }

    /// Position in ``pollutants`` of the greatest value; `nil` if all are unknown.
    public var greatest: Int? { Self.pollutants.indices.filter { self[$0] != nil }.max { values[$0] < values[$1] } }
}
