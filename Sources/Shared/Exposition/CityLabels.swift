internal import AirQuality

/// The cities' names as label values in one buffer: every family writes all of them, and at 100,000 cities memory
/// access dominates the cost.
struct CityLabels {
    /// The bytes between a sample's last label value and its number.
    static let end = Array("\"} ".utf8)

    /// The names, each followed by ``end``.
    private var text: [UInt8] = []
    /// Position in ``text`` where each name's ``end`` begins.
    private var ends: [Int] = []

    init(_ states: [CityState]) {
        ends.reserveCapacity(states.count)
        for state in states {
            text.appendLabelValue(state.name)
            ends.append(text.count)
            text += Self.end
        }
    }

    @inline(__always)
    func name(_ city: Int) -> ArraySlice<UInt8> { text[start(of: city)..<ends[city]] }

    /// The name and ``end``, for samples without other labels.
    @inline(__always)
    func closedName(_ city: Int) -> ArraySlice<UInt8> { text[start(of: city)..<ends[city] + Self.end.count] }

    @inline(__always)
    private func start(of city: Int) -> Int { city == 0 ? 0 : ends[city - 1] + Self.end.count }
}
