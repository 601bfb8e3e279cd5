import Bytes

/// A city as the storage keeps it.
public struct SavedCity: Sendable, Equatable {
    public var name: [UInt8]
    public var index: Double
    public var updatedAt: Timestamp
    public var receivedAt: Timestamp
    public var category: UInt8
    public var changes: CategoryChanges
    /// Category and changes are as an earlier answer had them.
    public var changesAreSaved = false
    /// Oldest first.
    public var points: [HistoryPoint]

    public init(
        name: [UInt8], index: Double, updatedAt: Timestamp, receivedAt: Timestamp, category: UInt8,
        changes: CategoryChanges, points: [HistoryPoint]
    ) {
        self.name = name
        self.index = index
        self.updatedAt = updatedAt
        self.receivedAt = receivedAt
        self.category = category
        self.changes = changes
        self.points = points
    }
}

/// What changed since a version.
public struct SavedChanges: Sendable {
    /// What to ask from next, once this is written.
    public var version: UInt64
    /// The cities that have unwritten points, a new category, or a current value that is due. Each comes with its
    /// current state and only its unwritten points.
    public var cities: [SavedCity]
    /// Names of cities that expired; a name may stand in `cities` as well, if it came back since.
    public var removed: [[UInt8]]
}

extension StoreState {
    /// - Parameter since: the version of the last answer if that was written, else an earlier one.
    mutating func answer(since: UInt64) -> UnsavedAnswer {
        if unsaved?.versionUnderWay == since { unsaved?.commit() } else { unsaved?.rollback() }
        // A whole answer has every point that the histories still hold.
        if since == 0 { unsaved?.forgetPoints() }
        unsaved?.begin(version: version)
        return UnsavedAnswer(since: since, version: version, unsaved: unsaved ?? UnsavedChanges(), cities: cities)
    }

    mutating func restore(_ saved: SavedCity) {
        let name = saved.name.span
        guard cities.count < rules.cityLimit, CityName.accepted(name, in: name.indices) == name.indices else { return }
        if let shard = rules.shard, !shard.contains(name) { return }
        let hash = CityName.hash(name)
        guard cities.find(name, hash: hash) == nil else { return }
        version += 1
        let city = cities.insert(name, hash: hash, version: version)
        var history = History(points: saved.points, capacity: rules.history.capacity)
        history.changedAt = history.last?.time ?? 0
        cities.states[city].index = saved.index
        cities.states[city].updatedAt = saved.updatedAt
        cities.states[city].receivedAt = saved.receivedAt
        cities.states[city].category = saved.category
        cities.states[city].changes = saved.changes
        cities.states[city].nextPointAt = history.nextPointAt(rule: rules.history)
        cities.histories[city] = history
        pointCount += history.count
        pointsVersion += 1
    }
}

/// A snapshot of all that an answer is made from, so that the lock is not held meanwhile.
struct UnsavedAnswer: Sendable {
    let since: UInt64
    let version: UInt64
    let unsaved: UnsavedChanges
    let cities: Cities

    func saved(_ city: Int) -> SavedCity {
        cities.saved(city, pointCount: since == 0 ? .max : unsaved.pointCount(of: city))
    }
}

extension Cities {
    /// - Parameter pointCount: of its newest ones, if there are so many.
    func saved(_ city: Int, pointCount: Int) -> SavedCity {
        let state = states[city]
        let history = histories[city]
        return SavedCity(
            name: name(of: city), index: state.index, updatedAt: state.updatedAt, receivedAt: state.receivedAt,
            category: state.category, changes: state.changes,
            points: (history.count - min(history.count, pointCount)..<history.count).map { history[$0] })
    }
}
