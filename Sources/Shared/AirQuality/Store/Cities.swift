internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    private var numbers: [CityKey: Int] = [:]
    private(set) var states: [CityState] = []
    private(set) var histories: [History] = []
    /// Numbers of the cities sorted by name, without those in ``unsorted``.
    private var sorted: [Int] = []
    /// Numbers of cities that were added since the last ``sort()``.
    private var unsorted: [Int] = []
    /// Numbers whose cities were removed.
    private var free: [Int] = []
    /// Kept for lookups, so that none allocates.
    private var key = CityKey(hash: 0, capacity: CityName.maximumCount)

    var count: Int { numbers.count }

    /// Numbers of the cities sorted by name. ``sort()`` brings it up to date.
    var order: [Int] { sorted }

    /// The number of the city of this name.
    ///
    /// - Parameter hash: the name's, by ``CityName/hash(_:)``.
    mutating func find(_ name: Span<UInt8>, hash: UInt64) -> Int? {
        key.nameHash = hash
        key.name.removeAll(keepingCapacity: true)
        key.name.append(name)
        return numbers[key]
    }

    /// Adds a city with a name that none has yet. ``sort()`` must follow before anybody sees the order.
    mutating func insert(_ key: CityKey, category: UInt8, version: UInt64) -> Int {
        let state = CityState(name: key.name, category: category, version: version)
        let number: Int
        if let last = free.popLast() {
            number = last
            states[number] = state
        } else {
            number = states.count
            states.append(state)
            histories.append(History())
        }
        numbers[key] = number
        unsorted.append(number)
        return number
    }

    /// Removes cities, which are in the order.
    mutating func remove(_ gone: [Int], version: UInt64) {
        guard !gone.isEmpty else { return }
        for number in gone {
            numbers[CityKey(states[number].name)] = nil
            states[number] = CityState(name: [], category: 0, version: version)
            histories[number] = History()
            free.append(number)
        }
        sorted.removeAll { states[$0].name.isEmpty }
    }

    /// Merges new cities into the order.
    mutating func sort() {
        guard !unsorted.isEmpty else { return }
        let states = states
        func precedes(_ left: Int, _ right: Int) -> Bool {
            CityName.precedes(states[left].name, states[right].name)
        }
        unsorted.sort(by: precedes)
        var merged: [Int] = []
        merged.reserveCapacity(sorted.count + unsorted.count)
        var start = 0
        for number in unsorted {
            let end = partition(sorted[start...]) { precedes($0, number) }
            merged += sorted[start..<end]
            merged.append(number)
            start = end
        }
        merged += sorted[start...]
        sorted = merged
        unsorted.removeAll()
    }

    @inline(__always)
    mutating func withCity<Result>(
        _ number: Int, _ body: (inout CityState, inout History) -> Result
    ) -> Result {
        body(&states[number], &histories[number])
    }
}

/// The first index whose element does not meet the condition; those that do come first.
func partition<Element>(_ elements: ArraySlice<Element>, _ isBefore: (Element) -> Bool) -> Int {
    var low = elements.startIndex
    var high = elements.endIndex
    while low < high {
        let middle = (low + high) / 2
        if isBefore(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
}
