internal import Bytes

/// All cities: an index by name, and what is known of each at its number.
struct Cities: Sendable {
    /// A city's number at the place that its name's hash gives, or at the next free one.
    ///
    /// The number of places is a power of two, and at most half of them are taken.
    private var slots = [Slot](repeating: .free, count: 16)
    var states: [CityState] = []
    var histories: [History] = []
    /// Numbers of the cities sorted by name. ``sort()`` brings it up to date.
    private(set) var order: [Int] = []
    private var isSorted = true
    /// Numbers whose cities were removed.
    private var free: [Int] = []

    private struct Slot: Sendable {
        /// -1: the place is free.
        var number: Int32
        /// The hash's upper half: with another one the names need not be compared.
        var hash: UInt32

        static let free = Slot(number: -1, hash: 0)
    }

    var count: Int { order.count }

    /// The number of the city of this name.
    ///
    /// - Parameter hash: the name's, by ``CityName/hash(_:)``.
    func find(_ name: Span<UInt8>, hash: UInt64) -> Int? {
        let slots = slots.span
        let states = states.span
        var place = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[place].number >= 0 {
            let number = Int(slots[place].number)
            if slots[place].hash == UInt32(hash >> 32), bytesEqual(states[number].name.span, name) { return number }
            place = (place + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Puts a city, which is in none yet, into a place.
    private mutating func takeSlot(_ number: Int, hash: UInt64) {
        var place = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[place].number >= 0 { place = (place + 1) & (slots.count - 1) }
        slots[place] = Slot(number: Int32(number), hash: UInt32(hash >> 32))
    }

    private mutating func makeSlots(_ count: Int) {
        slots = Array(repeating: .free, count: count)
        for number in order {
            let name = states[number].name
            takeSlot(number, hash: CityName.hash(name.span))
        }
    }

    /// Adds a city with a name that none has yet. ``sort()`` must follow before anybody sees the order.
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
        if 2 * count >= slots.count { makeSlots(2 * slots.count) }
        takeSlot(number, hash: hash)
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
        makeSlots(slots.count)
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
