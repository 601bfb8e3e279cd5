/// Which points and removals the storage has not got yet.
///
/// The storage asks again and again what changed since the version of the last answer that it has written. Asking since
/// that version says that the answer was written; asking since an earlier one says that it was not.
struct UnsavedChanges: Sendable {
    /// How many of a city's newest points are not written, by the city's number.
    private var points: [Int: Int] = [:]
    /// How many of those are in the answer under way.
    private var answeredPoints: [Int: Int] = [:]
    private(set) var removedNames: [[UInt8]] = []
    private var answeredRemovals = 0
    private var answeredVersion: UInt64?

    func pointCount(of city: Int) -> Int { points[city] ?? 0 }

    /// - Parameter isNew: false when the newest point was replaced.
    mutating func countPoint(of city: Int, isNew: Bool) {
        if isNew {
            points[city, default: 0] += 1
        } else {
            // One more than what is under way, so that the replaced point is sent once more after it.
            points[city] = max(points[city] ?? 0, (answeredPoints[city] ?? 0) + 1)
        }
    }

    mutating func remove(_ city: Int, named name: [UInt8]) {
        points[city] = nil
        answeredPoints[city] = nil
        removedNames.append(name)
    }

    mutating func answer(since: UInt64, version: UInt64) {
        if since == answeredVersion {
            for (city, count) in answeredPoints {
                let rest = (points[city] ?? 0) - count
                points[city] = rest > 0 ? rest : nil
            }
            removedNames.removeFirst(answeredRemovals)
        } else if since == 0 {
            points = [:]
        }
        answeredPoints = points
        answeredRemovals = removedNames.count
        answeredVersion = version
    }
}

/// A city as the storage keeps it.
public struct SavedCity: Sendable, Equatable {
    public var name: [UInt8]
    public var index: Double
    public var updatedAt: Timestamp
    public var receivedAt: Timestamp
    public var category: UInt8
    public var changes: CategoryChanges
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
    /// Their current state, and of the points only those that are not written yet.
    public var cities: [SavedCity]
    /// Names of cities that expired; a name may stand in `cities` as well, if it came back since.
    public var removed: [[UInt8]]
}

/// A snapshot of all that an answer is made from.
struct UnsavedAnswer: Sendable {
    let since: UInt64
    let version: UInt64
    let unsaved: UnsavedChanges
    let names: NameArena
    let states: CityStates
    let histories: ChunkedArray<History>

    var savedChanges: SavedChanges {
        var result = SavedChanges(version: version, cities: [], removed: unsaved.removedNames)
        states.forEach(changedSince: since) { result.cities.append(saved($0)) }
        return result
    }

    private func saved(_ city: Int) -> SavedCity {
        let state = states[city]
        let history = histories[city]
        let newCount = since == 0 ? history.count : min(history.count, unsaved.pointCount(of: city))
        return SavedCity(
            name: Array(names.bytes[state.nameRange]), index: state.index, updatedAt: state.updatedAt,
            receivedAt: state.receivedAt, category: state.category, changes: state.changes,
            points: (history.count - newCount..<history.count).map { history[$0] })
    }
}
