internal import AirQuality

/// The names of a page's cities as label values, side by side: each family writes them all, and at 100,000 cities it is
/// memory that takes the time.
struct CityLabels {
    /// The bytes between the value of a sample's last label and its number.
    static let end = Array("\"} ".utf8)

    /// The names, each with ``end``.
    private var text: [UInt8] = []
    /// Where each name's ``end`` begins in ``text``.
    private var ends: [Int] = []

    init(_ states: [CityState]) {
        ends.reserveCapacity(states.count)
        for state in states {
            text.appendLabelValue(state.name)
            ends.append(text.count)
            text += Self.end
        }
    }

    /// A city's name as a label value.
    @inline(__always)
    func name(_ city: Int) -> ArraySlice<UInt8> { text[start(of: city)..<ends[city]] }

    /// The same with ``end``, for the only label of a sample.
    @inline(__always)
    func closedName(_ city: Int) -> ArraySlice<UInt8> { text[start(of: city)..<ends[city] + Self.end.count] }

    @inline(__always)
    private func start(of city: Int) -> Int { city == 0 ? 0 : ends[city - 1] + Self.end.count }
}
