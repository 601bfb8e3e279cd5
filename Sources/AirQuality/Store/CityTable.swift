/// Finds a city by the hash of its name: open addressing with linear probing, half full at most.
///
/// Keeps 32 bits of each hash, so growing and removing need no name; the caller compares names.
struct CityTable: Sendable {
    /// The hash's bits above, the city's number + 1 below; 0 is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 16)
    private var mask = 15
    private(set) var count = 0

    /// A walk over the cities whose names may have a hash.
    struct Search {
        fileprivate let tag: UInt64
        fileprivate var position: Int
    }

    @inline(__always)
    func search(for hash: UInt64) -> Search {
        let tag = Self.tag(hash)
        return Search(tag: tag, position: Int(truncatingIfNeeded: tag) & mask)
    }

    /// The next city to compare with; nil when there is none of the name.
    @inline(__always)
    func next(_ search: inout Search) -> Int? {
        while true {
            let slot = slots[search.position]
            if slot == 0 { return nil }
            search.position = (search.position &+ 1) & mask
            if slot &>> 32 == search.tag { return Int(truncatingIfNeeded: slot & 0xFFFF_FFFF) &- 1 }
        }
    }

    /// The city's name must not be in the table.
    mutating func insert(_ city: Int, hash: UInt64) {
        if (count + 1) * 2 > slots.count { grow() }
        place(Self.tag(hash) << 32 | UInt64(city + 1))
        count += 1
    }

    mutating func remove(_ city: Int, hash: UInt64) {
        let entry = Self.tag(hash) << 32 | UInt64(city + 1)
        var hole = home(entry)
        while slots[hole] != entry {
            guard slots[hole] != 0 else { return }
            hole = (hole + 1) & mask
        }
        slots[hole] = 0
        count -= 1
        // Whoever was pushed past the hole moves up, so that no search ends at it too early.
        var position = (hole + 1) & mask
        while slots[position] != 0 {
            let distance = (position - home(slots[position])) & mask
            if distance >= (position - hole) & mask {
                slots[hole] = slots[position]
                slots[position] = 0
                hole = position
            }
            position = (position + 1) & mask
        }
    }

    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt64 { hash &>> 32 }

    private func home(_ entry: UInt64) -> Int {
        Int(truncatingIfNeeded: entry >> 32) & mask
    }

    private mutating func place(_ entry: UInt64) {
        var position = home(entry)
        while slots[position] != 0 { position = (position + 1) & mask }
        slots[position] = entry
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: old.count * 2)
        mask = slots.count - 1
        for entry in old where entry != 0 { place(entry) }
    }
}
