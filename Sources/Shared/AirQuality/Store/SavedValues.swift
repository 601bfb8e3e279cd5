/// Which current values the storage has, so that few are written: most readings are neither a point nor a change of
/// category, and the next one replaces them.
struct SavedValues: Sendable {
    /// By the city's number.
    private var marks: [Mark] = []
    /// Of the answer that was given last, until the next one says whether it was written.
    private var underWay: (version: UInt64, marks: [(city: Int, mark: Mark)])?

    /// The reading that the storage has.
    private struct Mark: Sendable {
        /// The city's version then; 0 for none.
        var version: UInt64 = 0
        var receivedAt: Timestamp = 0
    }

    /// Milliseconds. A saved value lags the city's newest by at most this.
    static let maximumDelay: Int64 = 30_000

    init() {}

    /// The storage has what the store has.
    init(_ cities: Cities) {
        marks = (0..<cities.endNumber).map { mark(of: $0, in: cities) }
    }

    private func mark(of city: Int, in cities: Cities) -> Mark {
        Mark(version: cities.states.version(of: city), receivedAt: cities.states[city].receivedAt)
    }

    /// - Parameter now: values are due by this time; `.max` for all that are not saved.
    mutating func changes(_ answer: UnsavedAnswer, at now: Timestamp) -> SavedChanges {
        if let underWay, underWay.version == answer.since {
            for (city, mark) in underWay.marks { marks[city] = mark }
        }
        if answer.since == 0 { marks = [] }
        let cities = answer.cities
        if marks.count < cities.endNumber {
            marks += repeatElement(Mark(), count: cities.endNumber - marks.count)
        }
        var numbers = answer.since == 0 ? [] : answer.unsaved.citiesWithPoints
        let withPoints = Set(numbers)
        for city in 0..<cities.endNumber where cities.states.version(of: city) > marks[city].version {
            let state = cities.states[city]
            guard state.isPresent, isDue(state, marks[city], at: now), !withPoints.contains(city) else { continue }
            numbers.append(city)
        }
        numbers.sort()
        var changes = SavedChanges(version: answer.version, cities: [], removed: answer.unsaved.removedNames)
        changes.cities.reserveCapacity(numbers.count)
        for city in numbers {
            var saved = answer.saved(city)
            let version = marks[city].version
            saved.changesAreSaved = version > 0 && cities.states[city].categoryVersion <= version
            changes.cities.append(saved)
        }
        underWay = (answer.version, numbers.map { ($0, mark(of: $0, in: cities)) })
        return changes
    }

    private func isDue(_ state: CityState, _ mark: Mark, at now: Timestamp) -> Bool {
        now == .max || mark.version == 0 || state.categoryVersion > mark.version
            || abs(state.receivedAt - mark.receivedAt) >= Self.maximumDelay
            || now - state.receivedAt >= Self.maximumDelay
    }
}
