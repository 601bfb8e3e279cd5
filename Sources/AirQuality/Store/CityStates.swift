/// The states of all cities by number, and what changed when.
struct CityStates: Sendable {
    private var states = ChunkedArray<CityState>()
    /// The store's version when each city last changed. Not in its state, because who looks for what changed reads them all.
    private var versions = ChunkedArray<UInt64>()
    /// The latest of each chunk of them.
    private var latestVersions: [UInt64] = []

    var count: Int { states.count }

    @inline(__always)
    subscript(city: Int) -> CityState {
        _read { yield states[city] }
        _modify { yield &states[city] }
    }

    mutating func append(_ state: CityState) {
        states.append(state)
        versions.append(0)
        if versions.chunks.count > latestVersions.count { latestVersions.append(0) }
    }

    /// Takes a reading's values.
    ///
    /// - Returns: what ``CityState/update(_:receivedAt:bounds:interval:)`` does.
    @inline(__always)
    mutating func update(
        _ city: Int, _ reading: Reading, receivedAt: Timestamp, version: UInt64, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        mark(city, version: version)
        return states[city].update(reading, receivedAt: receivedAt, bounds: bounds, interval: interval)
    }

    /// Something of the city changed, or it is a new one.
    @inline(__always)
    mutating func mark(_ city: Int, version: UInt64) {
        versions[city] = version
        latestVersions[versions.chunk(of: city)] = version
    }

    /// Calls `body` with each city that was marked later than at the version.
    @inline(__always)
    func forEach(changedSince version: UInt64, _ body: (Int) -> Void) {
        for chunk in latestVersions.indices where latestVersions[chunk] > version {
            let versions = versions.chunks[chunk]
            for index in versions.indices where versions[index] > version {
                let city = states.index(index, inChunk: chunk)
                if states[city].isPresent { body(city) }
            }
        }
    }

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
