internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// Numbers by the hashes of the cities' names; where two have the same, the later one is at the next free key.
    private var numbers: [UInt64: Int] = [:]
    /// The cities; ``sort()`` brings them into the order of their names.
    var states: [CityState] = []
    var histories: [History] = []
    private var isSorted = true

    var count: Int { states.count }

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
    /// - Returns: its number, until cities are sorted or removed.
    mutating func insert(_ name: [UInt8], hash: UInt64, category: UInt8, version: UInt64) -> Int {
        let number = states.count
        states.append(CityState(name: name, category: category, version: version))
        histories.append(History())
        index(number, hash: hash)
        isSorted = false
        return number
    }

    /// Brings the cities into the order of their names.
    mutating func sort() {
        guard !isSorted else { return }
        // Nearly sorted: Swift's sort finds the runs, and merges them.
        keep(states.indices.sorted { CityName.precedes(states[$0].name, states[$1].name) })
        isSorted = true
    }

    /// Keeps the cities with these numbers, in this order, which gives them new ones.
    mutating func keep(_ kept: [Int]) {
        states = kept.map { states[$0] }
        histories = kept.map { histories[$0] }
        numbers.removeAll(keepingCapacity: true)
        for number in states.indices {
            let name = states[number].name
            index(number, hash: CityName.hash(name.span))
        }
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
