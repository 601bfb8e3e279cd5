import Bytes

extension StoreSnapshot {
    /// All cities with their histories, by name. Their ids are 0: the store does not know them.
    public var storedCities: [City] {
        order.map { number in
            let (state, history) = (states[number], histories[number])
            return City(
                id: 0, name: state.name, index: state.index, updatedAt: state.updatedAt,
                receivedAt: state.receivedAt, category: state.category, changes: state.changes,
                points: (0..<history.count).map { history[$0] })
        }
    }
}

/// A row of the storage file.
public struct StoredReading: Sendable, Equatable {
    public var time: Timestamp
    public var index: Double
    /// When it arrived, where that is known to be another time.
    public var receivedAt: Timestamp
    /// Is a point of the history; otherwise a current value that the next one replaces.
    public var isKept: Bool

    public init(time: Timestamp, index: Double, receivedAt: Timestamp, isKept: Bool) {
        self.time = time
        self.index = index
        self.receivedAt = receivedAt
        self.isKept = isKept
    }
}

/// Changes that bring the file up to date with the store.
public struct StorageChanges: Sendable {
    public struct ChangedCity: Sendable {
        public var id: Int64
        /// Of a city that the file does not have yet; nil for others.
        public var name: [UInt8]?
        public var category: UInt8
        public var changes: CategoryChanges
        /// Whether the category and its changes are to be written.
        public var hasNewCategory: Bool
        /// Readings to remove first: all of the city from this time on, because the clock was set back.
        public var removedFrom: Timestamp?
        /// The time of a current value that has a successor.
        public var replacedAt: Timestamp?
        /// Readings to insert; one of a time that the file has replaces it.
        public var readings: [StoredReading] = []
    }

    public internal(set) var cities: [ChangedCity] = []
    /// The ids of cities that are gone. Their readings may go later.
    public internal(set) var removed: [Int64] = []
    /// No reading of those is later.
    public internal(set) var removedUntil = Timestamp.min
    /// Whether these are all changes.
    public internal(set) var isComplete = true
    public internal(set) var readingCount = 0

    fileprivate var entries: [(number: Int, entry: StorageMirror.Entry)] = []
    fileprivate var nextID: Int64
    fileprivate var categoriesAt: (held: Timestamp, all: Timestamp)?

    public var isEmpty: Bool { cities.isEmpty && removed.isEmpty }
}

/// A record of what the storage file has of each city, to find what changed.
///
/// ``changes(to:at:limit:)`` compares it with the store, ``apply(_:)`` notes that the changes are written. Changes whose
/// writing failed are not applied, and so are found again.
public struct StorageMirror: Sendable {
    fileprivate struct Entry: Sendable {
        /// 0: the file does not have the city.
        var id: Int64 = 0
        /// Tells cities apart that had the same number one after the other.
        var insertedAt: UInt64 = 0
        /// The file has everything up to this version of the city; 0 where that is not known.
        var version: UInt64 = 0
        /// The file has the category of this version of the city; 0 where that is not known.
        var categoryVersion: UInt64 = 0
        /// In the file.
        var category: UInt8 = 0
        /// The newest point; `.min` without one.
        var pointAt = Timestamp.min
        var pointIndex = 0.0
        /// The current value where it is no point; otherwise `.min`.
        var currentAt = Timestamp.min
        /// When the newest reading in the file arrived.
        var receivedAt: Timestamp = 0
    }

    /// Milliseconds. A current value that is no point may lag the store by this: most are replaced before. So may a
    /// category that a restore would not find from the file's category and the index, because hysteresis holds it.
    static let maximumDelay: Int64 = 30_000
    /// Milliseconds. Other categories are written all at once, because each is a page of the file.
    static let maximumCategoryDelay: Int64 = 300_000

    /// By the city's number.
    private var entries: [Entry] = []
    private var nextID: Int64 = 1
    /// When categories were last written: those that hysteresis holds, and all.
    private var categoriesAt: (held: Timestamp, all: Timestamp)?
    /// Cities that the file has and is to forget.
    private var unwanted: [(id: Int64, until: Timestamp)] = []

    public var unwantedCount: Int { unwanted.count }

    /// A mirror of an empty file.
    public init() {}

    /// A mirror of a file with these cities. It keeps what the store does not know, except cities of other shards.
    public init(_ stored: [City], in snapshot: StoreSnapshot) {
        let states = snapshot.states
        entries = Array(repeating: Entry(), count: states.count)
        for city in stored {
            nextID = max(nextID, city.id + 1)
            let newest = city.points.last
            guard let number = snapshot.find(city.name)?.city else {
                if let shard = snapshot.rules.shard, !shard.contains(city.name.span) {
                    unwanted.append((city.id, max(city.updatedAt, newest?.time ?? .min)))
                }
                continue
            }
            let (state, last) = (states[number], snapshot.histories[number].last)
            var entry = Entry(id: city.id, insertedAt: states[number].insertedAt, receivedAt: city.receivedAt)
            let hasCategory = city.category == state.category && city.changes == state.changes
            entry.category = city.category
            if hasCategory { entry.categoryVersion = state.categoryVersion }
            if let newest { (entry.pointAt, entry.pointIndex) = (newest.time, newest.index) }
            if !city.points.contains(where: { $0.time == city.updatedAt }) { entry.currentAt = city.updatedAt }
            let isSame =
                hasCategory && city.index == state.index && city.updatedAt == state.updatedAt
                && city.receivedAt == state.receivedAt && newest?.time == last?.time && newest?.index == last?.index
            if isSame { entry.version = states[number].version }
            entries[number] = entry
        }
    }

    /// Compares the file with the store.
    ///
    /// - Parameters:
    ///   - now: Current values and categories may wait for ``maximumDelay``; `.max`: none does.
    ///   - limit: After this many readings, the rest is left for the next call.
    public func changes(to snapshot: StoreSnapshot, at now: Timestamp, limit: Int = .max) -> StorageChanges {
        let states = snapshot.states
        let bounds = CategoryBounds(snapshot.rules.scale)
        let areAllDue = now == .max || categoriesAt.map { abs(now - $0.all) >= Self.maximumCategoryDelay } ?? true
        let areHeldDue = areAllDue || categoriesAt.map { abs(now - $0.held) >= Self.maximumDelay } ?? true
        var changes = StorageChanges(nextID: nextID, categoriesAt: categoriesAt)
        func remove(_ id: Int64, until time: Timestamp) {
            changes.removed.append(id)
            changes.removedUntil = max(changes.removedUntil, time)
        }
        for city in unwanted { remove(city.id, until: city.until) }
        for number in 0..<states.count {
            var entry = number < entries.count ? entries[number] : Entry()
            let isPresent = states[number].isPresent
            if entry.id != 0, !isPresent || states[number].insertedAt != entry.insertedAt {
                remove(entry.id, until: max(entry.pointAt, entry.currentAt))
                entry = Entry()
                changes.entries.append((number, entry))
            }
            guard isPresent else { continue }
            let hasNewCategory =
                areHeldDue && states[number].categoryVersion > entry.categoryVersion
                && (areAllDue || states[number].isHeld(from: entry.category, by: bounds))
            guard hasNewCategory || states[number].version > entry.version else { continue }
            guard changes.readingCount < limit else {
                changes.isComplete = false
                continue
            }
            guard
                let city = entry.update(
                    to: number, in: snapshot, at: now, hasNewCategory: hasNewCategory, nextID: &changes.nextID)
            else { continue }
            changes.readingCount += city.readings.count
            changes.cities.append(city)
            changes.entries.append((number, entry))
        }
        if changes.isComplete {
            if areHeldDue { changes.categoriesAt?.held = now }
            if areAllDue { changes.categoriesAt = (now, now) }
        }
        return changes
    }

    /// Notes that the changes are in the file.
    public mutating func apply(_ changes: StorageChanges) {
        unwanted = []
        (nextID, categoriesAt) = (changes.nextID, changes.categoriesAt)
        for (number, entry) in changes.entries {
            while entries.count <= number { entries.append(Entry()) }
            entries[number] = entry
        }
    }

    /// The oldest point that the store has, by the city's id: the file needs none before it. `.min` while the history
    /// has room.
    public func oldestPoints(in snapshot: StoreSnapshot) -> [Int64: Timestamp] {
        var oldest: [Int64: Timestamp] = [:]
        oldest.reserveCapacity(entries.count)
        for (number, entry) in entries.enumerated() where entry.id != 0 {
            let history = snapshot.histories[number]
            oldest[entry.id] = history.count >= snapshot.rules.history.capacity ? history[0].time : .min
        }
        return oldest
    }
}

extension CityState {
    /// Whether the index would not lead from the category to the city's.
    fileprivate func isHeld(from category: UInt8, by bounds: CategoryBounds) -> Bool {
        bounds.category(of: index) != self.category
    }
}

extension StorageMirror.Entry {
    /// Change that brings the file's city up to date; nil when nothing is to be written yet. The entry is then what the
    /// file has afterwards.
    fileprivate mutating func update(
        to number: Int, in snapshot: StoreSnapshot, at now: Timestamp, hasNewCategory: Bool, nextID: inout Int64
    ) -> StorageChanges.ChangedCity? {
        let (state, history) = (snapshot.states[number], snapshot.histories[number])
        let (cityVersion, newest) = (snapshot.states[number].version, history.last)
        // The first point to write.
        var first = history.count
        while first > 0, history[first - 1].time > pointAt { first -= 1 }
        var isSetBack = false
        if pointAt != .min {
            if first > 0, history[first - 1].time == pointAt {
                if history[first - 1].index != pointIndex { first -= 1 }
            } else if first > 0 || newest == nil {
                // The file's newest point is gone while older ones are there: a clock was set back.
                (isSetBack, first) = (true, 0)
            }
        }
        let hasPoints = first < history.count
        // The point with the time of the current value, if there is one; they are one row.
        var point = history.count - 1
        while point >= 0, history[point].time > state.updatedAt { point -= 1 }
        let isPoint = point >= 0 && history[point].time == state.updatedAt

        let hasNewCategory = hasNewCategory || id == 0
        let isDue =
            cityVersion > version
            && (now == .max || hasNewCategory || isSetBack
                || hasPoints && (isPoint || state.receivedAt != state.updatedAt)
                || abs(state.receivedAt - receivedAt) >= StorageMirror.maximumDelay
                || now - state.receivedAt >= StorageMirror.maximumDelay)
        guard isDue || hasPoints || hasNewCategory else { return nil }

        var city = StorageChanges.ChangedCity(
            id: id, category: state.category, changes: state.changes, hasNewCategory: hasNewCategory)
        if id == 0 {
            (id, city.id, city.name) = (nextID, nextID, snapshot.states[number].name)
            nextID += 1
            insertedAt = snapshot.states[number].insertedAt
        }
        if isSetBack { city.removedFrom = history.count > 0 ? history[0].time : .min }
        city.readings = (first..<history.count).map { place in
            let (time, index) = (history[place].time, history[place].index)
            let isCurrent = place == point && isPoint && index == state.index
            return StoredReading(
                time: time, index: index, receivedAt: isDue && isCurrent ? state.receivedAt : time, isKept: true)
        }
        let isOnlyNewArrival =
            isPoint && point < first && history[point].index == state.index && state.receivedAt != receivedAt
        if isDue, !isPoint || isOnlyNewArrival {
            city.readings.append(
                StoredReading(
                    time: state.updatedAt, index: state.index, receivedAt: state.receivedAt, isKept: isPoint))
        }
        city.readings.removeAll { !City.times.contains($0.time) || !City.times.contains($0.receivedAt) }

        let newestAt = newest?.time ?? .min
        if currentAt != .min, isDue || currentAt <= newestAt {
            let time = currentAt
            if !city.readings.contains(where: { $0.time == time }) { city.replacedAt = time }
        }
        if hasNewCategory { (category, categoryVersion) = (state.category, state.categoryVersion) }
        (pointAt, pointIndex) = (newestAt, newest?.index ?? 0)
        if isDue {
            currentAt = isPoint ? .min : state.updatedAt
            receivedAt = state.receivedAt
            version = cityVersion
        } else if currentAt <= newestAt {
            (currentAt, receivedAt) = (.min, newestAt)
        }
        return city
    }
}
