internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// Numbers by the hashes of the cities' names; where two have the same, the later one is at the next free key.
    private var numbers: [UInt64: Int] = [:]
    var states: [CityState] = []
    var histories: [History] = []
    /// Numbers of the cities sorted by name. ``sort()`` brings it up to date.
    private(set) var order: [Int] = []
    private var isSorted = true
    /// Numbers whose cities were removed.
    private var free: [Int] = []

    var count: Int { order.count }

    /// The number of the city of this name.
    ///
    /// - Parameter hash: the name's, by ``CityName/hash(_:)``.
    func find(_ name: Span<UInt8>, hash: UInt64) -> Int? {
        let states = states.span
        var key = hash
        while let number = numbers[key] {
            if bytesEqual(states[number].name.span, name) { return number }
            key &+= 1
        }
        return nil
    }

    /// Puts a city into the index, which it is not in yet.
    private mutating func index(_ number: Int, hash: UInt64) {
        var key = hash
        while numbers[key] != nil { key &+= 1 }
        numbers[key] = number
    }

    /// Adds a city with a name that none has yet. ``sort()`` must follow before a snapshot is taken.
    ///
    /// - Returns: its number.
    mutating func insert(_ name: [UInt8], hash: UInt64, category: UInt8, version: UInt64) -> Int {
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
        index(number, hash: hash)
        order.append(number)
        isSorted = false
        return number
    }

    /// Removes cities, which are in the order.
    mutating func remove(_ gone: [Int], version: UInt64) {
        guard !gone.isEmpty else { return }
        for number in gone {
            states[number] = CityState(name: [], category: 0, version: version)
            histories[number] = History()
            free.append(number)
        }
        order.removeAll { states[$0].name.isEmpty }
        numbers.removeAll(keepingCapacity: true)
        for number in order {
            let name = states[number].name
            index(number, hash: CityName.hash(name.span))
        }
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
