/// The states of all cities by number, and what changed when.
public struct CityStates: Sendable {
    private var states = ChunkedArray<CityState>()
    /// The store's version when each city last changed. Kept apart from the states, because a search for changes reads
    /// the versions of all cities.
    private var versions = ChunkedArray<UInt64>()
    /// The store's version when each city was inserted: it tells cities apart that had the same number one after the other.
    private var insertions = ChunkedArray<UInt64>()
    /// The latest version in each chunk of ``versions``.
    private var latestVersions: [UInt64] = []

    var count: Int { states.count }

    @inline(__always)
    public internal(set) subscript(city: Int) -> CityState {
        _read { yield states[city] }
        _modify { yield &states[city] }
    }

    mutating func append(_ state: CityState) {
        states.append(state)
        versions.append(0)
        insertions.append(0)
        if versions.chunks.count > latestVersions.count { latestVersions.append(0) }
    }

    /// Takes a reading's values, in one access: two would cost a reading a tenth more instructions.
    ///
    /// - Returns: what ``CityState/update(_:receivedAt:version:bounds:interval:)`` does.
    @inline(__always)
    mutating func update(
        _ city: Int, _ reading: Reading, receivedAt: Timestamp, version: UInt64, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        mark(city, version: version)
        return states[city].update(
            reading, receivedAt: receivedAt, version: version, bounds: bounds, interval: interval)
    }

    /// Something of the city changed, or it is a new one.
    @inline(__always)
    mutating func mark(_ city: Int, version: UInt64) {
        versions[city] = version
        latestVersions[versions.chunk(of: city)] = version
    }

    mutating func markInsertion(_ city: Int, version: UInt64) { insertions[city] = version }

    func insertion(of city: Int) -> UInt64 { insertions[city] }

    /// The store's version when the city last changed.
    func version(of city: Int) -> UInt64 { versions[city] }

    /// The first cities, from a number on, that were marked later than at the version.
    ///
    /// - Returns: at most `maximum` of them, and the number to go on from; nil when none is left.
    func cities(changedSince version: UInt64, from first: Int, maximum: Int) -> (cities: [Int], next: Int?) {
        var cities: [Int] = []
        var city = first
        while city < count {
            let chunk = versions.chunk(of: city)
            let end = min(count, states.index(0, inChunk: chunk + 1))
            guard latestVersions[chunk] > version else {
                city = end
                continue
            }
            while city < end {
                if versions[city] > version, states[city].isPresent {
                    if cities.count == maximum { return (cities, city) }
                    cities.append(city)
                }
                city += 1
            }
        }
        return (cities, nil)
    }
}

/// State of a city in two cache lines: all that a reading and a scrape of it need.
public struct CityState: Sendable {
    public var index: Double
    /// Time of the newest reading.
    public var updatedAt: Timestamp
    /// When it arrived. The same as `updatedAt` unless the feed says times itself.
    var receivedAt: Timestamp
    /// From this time on a reading may be a new point of the history; ``History`` decides.
    var nextPointAt: Timestamp
    /// The store's version when the category last changed.
    var categoryVersion: UInt64
    public var changes = CategoryChanges()
    /// 0 when the city was removed.
    var nameCount: UInt8
    /// The category held, 1 ….
    public var category: UInt8
    var nameOffset: UInt32

    /// Takes a reading's values.
    ///
    /// - Returns: whether the reading may become a point of the history: its time is at or after ``nextPointAt``, or
    ///   not after the last point.
    @inline(__always)
    mutating func update(
        _ reading: Reading, receivedAt: Timestamp, version: UInt64, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        index = reading.index
        updatedAt = reading.time
        self.receivedAt = receivedAt
        let category = bounds.category(of: reading.index, held: self.category)
        if category != self.category {
            changes.record(better: category < self.category, at: reading.time)
            self.category = category
            categoryVersion = version
        }
        return reading.time >= nextPointAt || reading.time <= nextPointAt &- interval
    }

    var isPresent: Bool { nameCount > 0 }

    var nameRange: Range<Int> { Int(nameOffset)..<Int(nameOffset) + Int(nameCount) }
}

/// Counters and direction of category changes.
public struct CategoryChanges: Sendable, Equatable {
    public var better: UInt64 = 0
    public var worse: UInt64 = 0
    /// nil before the first change.
    public var changedAt: Timestamp?
    /// 1 better, -1 worse, 0 none yet.
    public var direction: Int8 = 0

    public init() {}

    mutating func record(better isBetter: Bool, at time: Timestamp) {
        direction = isBetter ? 1 : -1
        changedAt = time
        if isBetter { better += 1 } else { worse += 1 }
    }
}

/// An array in chunks, so that changing an element while a reader holds a snapshot copies one chunk and not the array.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var chunkBits: Int { 8 }
    private static var chunkCount: Int { 1 << chunkBits }

    private(set) var chunks: [[Element]] = []
    private(set) var count = 0

    @inline(__always)
    subscript(index: Int) -> Element {
        _read { yield chunks[index &>> Self.chunkBits][index & (Self.chunkCount &- 1)] }
        _modify { yield &chunks[index &>> Self.chunkBits][index & (Self.chunkCount &- 1)] }
    }

    @inline(__always)
    func chunk(of index: Int) -> Int { index &>> Self.chunkBits }

    @inline(__always)
    func index(_ index: Int, inChunk chunk: Int) -> Int { chunk &<< Self.chunkBits | index }

    mutating func append(_ element: Element) {
        if count & (Self.chunkCount - 1) == 0 {
            var chunk: [Element] = []
            // The first one grows: most exporters have few cities.
            if count > 0 { chunk.reserveCapacity(Self.chunkCount) }
            chunks.append(chunk)
        }
        chunks[count >> Self.chunkBits].append(element)
        count += 1
    }
}
