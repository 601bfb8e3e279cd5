internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// A table of the cities by the hashes of their names, three quarters empty at least; a city whose slot is taken
    /// has the next free one. A slot has the upper half of the hash, and below it the city's number plus 1; 0 is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 64)
    private let hashing = NameHash()
    /// The cities; ``sort()`` brings them into the order of their names.
    var states: [CityState] = []
    var histories: [History] = []
    private var isSorted = true

    var count: Int { states.count }

    @inline(__always)
    func find(_ name: Span<UInt8>) -> Int? {
        let states = states.span
        let slots = slots.span
        let hash = hashing(name)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
        while slots[slot] != 0 {
            let number = Int(UInt32(truncatingIfNeeded: slots[slot])) &- 1
            if slots[slot] >> 32 == hash >> 32, bytesEqual(states[number].name.span, name) { return number }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return nil
    }

    /// Puts a city into the table, which it is not in yet.
    private mutating func index(_ number: Int) {
        let name = states[number].name
        let hash = hashing(name.span)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = hash & ~0xFFFF_FFFF | UInt64(number + 1)
    }

    /// Adds a city of a new name, and returns its number until cities are sorted or removed. Before a snapshot is
    /// taken, ``sort()`` must follow.
    mutating func insert(_ name: [UInt8], category: UInt8, version: UInt64) -> Int {
        states.append(CityState(name: name, category: category, version: version))
        histories.append(History())
        isSorted = false
        if states.count > slots.count / 4 {
            slots = Array(repeating: 0, count: slots.count * 2)
            for number in states.indices { index(number) }
        } else {
            index(states.count - 1)
        }
        return states.count - 1
    }

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
        slots = Array(repeating: 0, count: slots.count)
        for number in states.indices { index(number) }
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
