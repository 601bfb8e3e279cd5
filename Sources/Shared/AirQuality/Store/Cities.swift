internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// Numbers of the cities by the hashes of their names. Two names with one hash of 64 bits, whose secret is the
    /// process's, are not to be expected: among 10,000 cities once in 10¹¹ starts. The second one finds no room.
    private var numbers: [UInt64: Int] = [:]
    var states: [CityState] = []
    var histories: [History] = []
    /// Numbers of the cities sorted by name. ``sort()`` brings it up to date.
    private(set) var order: [Int] = []
    private var isSorted = true
    /// Numbers whose cities were removed.
    private var free: [Int] = []

    var count: Int { numbers.count }

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
        order.append(number)
        isSorted = false
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
        order.removeAll { states[$0].name.isEmpty }
    }

    /// Brings new cities into the order.
    mutating func sort() {
        guard !isSorted else { return }
        let states = states
        // Nearly sorted: Swift's sort finds the runs, and merges them.
        order.sort { CityName.precedes(states[$0].name, states[$1].name) }
        isSorted = true
    }
}

/// The first of `count` indices that does not meet the condition; those that do come first.
func partition(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}
