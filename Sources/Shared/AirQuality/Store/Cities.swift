internal import Bytes

/// All cities: a hash table by name, and the state of each by index. A `Dictionary` would need an array, with its
/// allocation, to look up a name in the bytes of a message.
struct Cities: Sendable {
    /// Open-addressing hash table with linear probing, at most a quarter full. A slot holds the upper half of the hash
    /// and below it the city's index plus 1; 0 is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 64)
    private let hashing = NameHash()
    /// In insertion order until ``sort()`` orders them by name.
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
            let index = Int(UInt32(truncatingIfNeeded: slots[slot])) &- 1
            if slots[slot] >> 32 == hash >> 32, bytesEqual(states[index].name.span, name) { return index }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return nil
    }

    private mutating func addSlot(ofCity index: Int) {
        let name = states[index].name
        let hash = hashing(name.span)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = hash & ~0xFFFF_FFFF | UInt64(index + 1)
    }

    /// Adds a city with a new name and returns its index, which is valid until cities are sorted or removed.
    /// ``sort()`` must follow before a snapshot is taken.
    mutating func insert(_ name: [UInt8], category: UInt8, version: UInt64) -> Int {
        states.append(CityState(name: name, category: category, version: version))
        histories.append(History())
        isSorted = false
        if states.count > slots.count / 4 {
            slots = Array(repeating: 0, count: slots.count * 2)
            for index in states.indices { addSlot(ofCity: index) }
        } else {
            addSlot(ofCity: states.count - 1)
        }
        return states.count - 1
    }

    mutating func sort() {
        guard !isSorted else { return }
        // Nearly sorted already: Swift's sort detects runs and merges them.
        keep(states.indices.sorted { CityName.precedes(states[$0].name, states[$1].name) })
        isSorted = true
    }

    /// Keeps only these cities in this order, which gives them new indices.
    mutating func keep(_ kept: [Int]) {
        states = kept.map { states[$0] }
        histories = kept.map { histories[$0] }
        slots = Array(repeating: 0, count: slots.count)
        for index in states.indices { addSlot(ofCity: index) }
    }
}

/// Returns the first of `count` indices for which the condition is false, by binary search: the true ones come first.
func partition(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
}
