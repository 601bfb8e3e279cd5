internal import AirQuality

/// The cities' names as label values in one buffer: every family writes all of them, and at 100,000 cities memory
/// access dominates the cost.
struct CityLabels {
    /// The bytes between a sample's last label value and its number.
    static let end = Array("\"} ".utf8)

    /// The names, each followed by ``end``.
    private var text: [UInt8] = []
    /// Position in ``text`` where each name begins, and where the last one ends.
    private var starts = [0]

    init(_ states: [CityState]) {
        starts.reserveCapacity(states.count + 1)
        for state in states {
            text.appendLabelValue(state.name)
            text += Self.end
            starts.append(text.count)
        }
    }

    @inline(__always)
    func name(_ city: Int) -> ArraySlice<UInt8> { text[starts[city]..<starts[city + 1] - Self.end.count] }

    /// The name and ``end``, for samples without other labels.
    @inline(__always)
    func closedName(_ city: Int) -> ArraySlice<UInt8> { text[starts[city]..<starts[city + 1]] }
}
