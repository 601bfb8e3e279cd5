internal import AirQuality

/// The cities of a page in its order, side by side: each family reads all of them, and at 100,000 cities it is memory
/// that takes the time.
struct PageCities {
    /// The bytes between the value of a sample's last label and its number.
    static let labelsEnd = Array("\"} ".utf8)

    let states: [CityState]
    /// Names as label values, each with ``labelsEnd``.
    private var names: [UInt8] = []
    /// Where each name's ``labelsEnd`` begins in ``names``.
    private var ends: [Int] = []

    init(_ snapshot: StoreSnapshot) {
        states = snapshot.order.map { snapshot.states[$0] }
        ends.reserveCapacity(states.count)
        for state in states {
            names.appendLabelValue(state.name)
            ends.append(names.count)
            names += Self.labelsEnd
        }
    }

    /// A city's name as a label value.
    @inline(__always)
    func name(_ city: Int) -> ArraySlice<UInt8> { names[start(of: city)..<ends[city]] }

    /// The same with ``labelsEnd``, for the only label of a sample.
    @inline(__always)
    func closedName(_ city: Int) -> ArraySlice<UInt8> { names[start(of: city)..<ends[city] + Self.labelsEnd.count] }

    @inline(__always)
    private func start(of city: Int) -> Int { city == 0 ? 0 : ends[city - 1] + Self.labelsEnd.count }
}
