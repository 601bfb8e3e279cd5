import AirQuality
import Storage

// The core and the storage do not know each other: these are the conversions between their cities.

extension SavedCity {
    /// - Parameter scale: gives the points their categories.
    init(_ stored: StoredCity, scale: Scale, hysteresis: Double, isSameScale: Bool) {
        var changes = CategoryChanges()
        if isSameScale {
            changes.direction = stored.direction
            changes.changedAt = stored.changedAt
            changes.better = stored.better
            changes.worse = stored.worse
        }
        var held: UInt8?
        let points = stored.points.map { point in
            // Since the last change the category held is known; before that, the first point decides without one.
            if isSameScale, point.time >= stored.changedAt ?? .min { held = stored.category }
            let category = scale.category(of: point.index, held: held, hysteresis: hysteresis)
            held = category
            return HistoryPoint(time: point.time, index: point.index, category: category)
        }
        self.init(
            name: stored.name, index: stored.index, updatedAt: stored.updatedAt, receivedAt: stored.receivedAt,
            // A category of another scale means nothing.
            category: isSameScale
                ? stored.category : scale.category(of: stored.index, held: nil, hysteresis: 0),
            changes: changes, points: points)
    }
}

extension StoredCity {
    init(_ saved: SavedCity) {
        self.init(
            name: saved.name, index: saved.index, updatedAt: saved.updatedAt, receivedAt: saved.receivedAt,
            category: saved.category, direction: saved.changes.direction, changedAt: saved.changes.changedAt,
            better: saved.changes.better, worse: saved.changes.worse,
            points: saved.points.map { StoredPoint(time: $0.time, index: $0.index) })
        changesAreStored = saved.changesAreSaved
    }
}
