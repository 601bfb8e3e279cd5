internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// Numbers of the cities by the hashes of their names. Two names with one hash of 64 bits, whose secret is the
    /// process's, are not to be expected: among 10,000 cities once in 10¹¹ starts. The second one finds no room.
    private var numbers: [UInt64: Int] = [:]
    private(set) var states: [CityState] = []
    private(set) var histories: [History] = []
    /// Numbers of the cities sorted by name, without those in ``unsorted``.
    private var sorted: [Int] = []
    /// Numbers of cities that were added since the last ``sort()``.
    private var unsorted: [Int] = []
    /// Numbers whose cities were removed.
    private var free: [Int] = []

    var count: Int { numbers.count }

    /// Numbers of the cities sorted by name. ``sort()`` brings it up to date.
    var order: [Int] { sorted }

    /// The number of the city of this name.
    ///
    /// - Parameter hash: the name's, by ``CityName/hash(_:)``.
    func find(_ name: Span<UInt8>, hash: UInt64) -> Int? {
        guard let number = numbers[hash] else { return nil }
        let states = states.span
        return bytesEqual(states[number].name.span, name) ? number : nil
    }

    /// Adds a city with a name that none has yet. ``sort()`` must follow before anybody sees the order.
    ///
    /// - Returns: its number; `nil` when another name has the hash.
    mutating func insert(_ name: [UInt8], hash: UInt64, category: UInt8, version: UInt64) -> Int? {
        guard numbers[hash] == nil else { return nil }
        let state = CityState(name: name, category: category, version: version)
        let number: Int
        if let last = free.popLast() {
            number = last
            states[number] = state
        } else {
            number = states.count
            states.append(state)
            histories.append(History())
        }
        numbers[hash] = number
        unsorted.append(number)
        return number
    }

    /// Removes cities, which are in the order.
    mutating func remove(_ gone: [Int], version: UInt64) {
        guard !gone.isEmpty else { return }
        for number in gone {
            let name = states[number].name
            numbers[CityName.hash(name.span)] = nil
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
