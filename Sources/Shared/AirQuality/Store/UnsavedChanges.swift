/// Which points and removals the storage has not written yet.
///
/// An answer starts with ``begin(version:)``. Later it is either written (``commit()``) or not (``rollback()``).
/// Changes in between belong to the next answer.
struct UnsavedChanges: Sendable {
    /// How many of a city's newest points are not written, by the city's number.
    private var points: [Int: Int] = [:]
    /// Of cities that are gone, oldest first.
    private(set) var removedNames: [[UInt8]] = []
    private let maximumRemovedCount: Int
    private var underWay: Answer?

    /// - Parameter maximumRemovedCount: while the storage cannot be written, names of removed cities beyond it are not
    ///   kept. Such a city stays in the file: after a restart it is one not heard of for long, and expires again.
    init(removedNames: [[UInt8]] = [], maximumRemovedCount: Int = .max) {
        self.removedNames = removedNames
        self.maximumRemovedCount = maximumRemovedCount
    }

    private struct Answer {
        var version: UInt64
        var points: [Int: Int]
        var removalCount: Int
    }

    /// Of the answer that was begun last, until it is committed or rolled back.
    var versionUnderWay: UInt64? { underWay?.version }

    func pointCount(of city: Int) -> Int { points[city] ?? 0 }

    /// Their numbers, in no order.
    var citiesWithPoints: [Int] { Array(points.keys) }

    /// - Parameter isNew: false when the newest point was replaced, or has become the newest because others were removed.
    mutating func countPoint(of city: Int, isNew: Bool) {
        if isNew {
            points[city, default: 0] += 1
        } else {
            // One more than what is under way, so that the newest point is written once more after it.
            points[city] = max(points[city] ?? 0, (underWay?.points[city] ?? 0) + 1)
        }
    }

    mutating func remove(_ city: Int, named name: [UInt8]) {
        points[city] = nil
        underWay?.points[city] = nil
        if removedNames.count < maximumRemovedCount { removedNames.append(name) }
    }

    /// An answer with all that is not written is on its way to the storage.
    mutating func begin(version: UInt64) {
        underWay = Answer(version: version, points: points, removalCount: removedNames.count)
    }

    /// The answer that was begun last is written.
    mutating func commit() {
        guard let written = underWay else { return }
        underWay = nil
        for (city, count) in written.points {
            let rest = (points[city] ?? 0) - count
            points[city] = rest > 0 ? rest : nil
        }
        removedNames.removeFirst(written.removalCount)
    }

    /// The answer that was begun last is not written: the next one has its changes too.
    mutating func rollback() {
        underWay = nil
    }

    /// The next answer has all points there are, written or not.
    mutating func forgetPoints() {
        points = [:]
    }
}
