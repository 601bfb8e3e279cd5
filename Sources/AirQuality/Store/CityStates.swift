/// The states of all cities by number, and what changed when.
struct CityStates: Sendable {
    private var states = ChunkedArray<CityState>()
    /// The store's version when a city of a chunk last changed.
    private var versions: [UInt64] = []

    var count: Int { states.count }

    @inline(__always)
    subscript(city: Int) -> CityState {
        _read { yield states[city] }
        _modify { yield &states[city] }
    }

    mutating func append(_ state: CityState) {
        states.append(state)
        if states.chunks.count > versions.count { versions.append(0) }
    }

    /// Takes a reading's values.
    ///
    /// - Returns: what ``CityState/update(_:receivedAt:version:bounds:interval:)`` does.
    @inline(__always)
    mutating func update(
        _ city: Int, _ reading: Reading, receivedAt: Timestamp, version: UInt64, bounds: CategoryBounds, interval: Int64
    ) -> Bool {
        versions[states.chunk(of: city)] = version
        return states[city].update(
            reading, receivedAt: receivedAt, version: version, bounds: bounds, interval: interval)
    }

    /// Something else of the city changed, or it is a new one.
    mutating func mark(_ city: Int, version: UInt64) {
        states[city].version = version
        versions[states.chunk(of: city)] = version
    }

    /// Calls `body` with each city that was marked later than at the version.
    @inline(__always)
    func forEach(changedSince version: UInt64, _ body: (Int) -> Void) {
        for chunk in versions.indices where versions[chunk] > version {
            let states = states.chunks[chunk]
            for index in states.indices where states[index].version > version && states[index].isPresent {
                body(self.states.index(index, inChunk: chunk))
            }
        }
    }
}
