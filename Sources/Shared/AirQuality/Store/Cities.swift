import Bytes

/// All cities: how to find one by its name, and what is known of each, by its number.
struct Cities: Sendable {
    private var table = CityTable()
    private(set) var names = NameArena()
    var states = CityStates()
    var histories = ChunkedArray<History>()
    var extras = ExtrasOfCities()
    private(set) var order = CityOrder()
    /// Numbers of cities that were removed.
    private var free: [UInt32] = []

    var count: Int { table.count }
    /// Their numbers are below this; some of those may be free.
    var endNumber: Int { states.count }

    /// The city of this name.
    ///
    /// - Parameter hash: of the name.
    func find(_ name: Span<UInt8>, hash: UInt64) -> Int? {
        table.find(hash) { bytesEqual(names[states[$0].nameRange].span, name) }
    }

    /// - Parameter name: is the name of no city yet.
    mutating func insert(_ name: Span<UInt8>, hash: UInt64, version: UInt64) -> Int {
        let state = CityState(
            index: 0, updatedAt: 0, receivedAt: 0, nextPointAt: .min, categoryVersion: version,
            nameCount: UInt8(name.count), category: 1, nameOffset: names.append(name))
        let city: Int
        if let number = free.popLast() {
            city = Int(number)
            states[city] = state
            histories[city] = History()
        } else {
            city = states.count
            states.append(state)
            histories.append(History())
        }
        states.mark(city, version: version)
        states.markInsertion(city, version: version)
        table.insert(city, hash: hash)
        changeOrder { order, cities in order.insert(UInt32(city), version: version) { cities.precedes($0, name) } }
        return city
    }

    /// - Parameter hash: of its name.
    mutating func remove(_ city: Int, hash: UInt64, version: UInt64) {
        let name = name(of: city)
        table.remove(city, hash: hash)
        changeOrder { order, cities in order.remove(UInt32(city), version: version) { cities.precedes($0, name.span) } }
        names.remove(states[city].nameRange)
        states[city].nameCount = 0
        histories[city] = History()
        extras.remove(city)
        free.append(UInt32(city))
        if names.isWasteful { compactNames() }
    }

    func name(of city: Int) -> [UInt8] { Array(names[states[city].nameRange]) }

    /// The order is taken out while it changes, because comparing names reads all the rest.
    private mutating func changeOrder(_ change: (inout CityOrder, borrowing Cities) -> Void) {
        var order = CityOrder()
        swap(&order, &self.order)
        change(&order, self)
        swap(&order, &self.order)
    }

    /// Whether the city's name sorts before this one.
    private func precedes(_ city: UInt32, _ name: Span<UInt8>) -> Bool {
        bytesPrecede(names[states[Int(city)].nameRange].span, name)
    }

    private mutating func compactNames() {
        var compacted = NameArena()
        for run in order.sequence {
            for city in order.runs[Int(run)].cities {
                states[Int(city)].nameOffset = compacted.append(name(of: Int(city)).span)
            }
        }
        names = compacted
    }
}

/// The names of all cities, in blocks: adding one while a reader holds a snapshot copies one block and not all names.
struct NameArena: Sendable {
    private(set) var blocks: [[UInt8]] = []
    /// Bytes of names that were removed.
    private var wastedCount = 0

    private static var blockBits: Int { 14 }
    private static var blockCount: Int { 1 << blockBits }

    /// A name lies in one block, so its range is that block's part of all ranges, and the place in it.
    @inline(__always)
    subscript(range: Range<Int>) -> ArraySlice<UInt8> {
        let start = range.lowerBound & (Self.blockCount &- 1)
        return blocks[range.lowerBound &>> Self.blockBits][start..<start + range.count]
    }

    /// - Returns: where the name begins.
    mutating func append(_ name: Span<UInt8>) -> UInt32 {
        if blocks.last.map({ $0.count + name.count > Self.blockCount }) ?? true { blocks.append([]) }
        let block = blocks.count - 1
        let offset = block << Self.blockBits | blocks[block].count
        for index in name.indices { blocks[block].append(name[index]) }
        return UInt32(offset)
    }

    mutating func remove(_ range: Range<Int>) { wastedCount += range.count }

    /// Whether rewriting the names would give back more than half of the memory.
    var isWasteful: Bool { wastedCount > 1 << 16 && wastedCount > blocks.count * Self.blockCount / 2 }
}

/// Details of cities beside their index, by number. Takes no memory until there are some.
public struct ExtrasOfCities: Sendable {
    private var values = ChunkedArray<CityExtras>()

    public internal(set) subscript(city: Int) -> CityExtras {
        get { city < values.count ? values[city] : CityExtras() }
        set {
            while values.count <= city { values.append(CityExtras()) }
            values[city] = newValue
        }
    }

    /// Whether it is known of any city where it is.
    public var havePlaces: Bool { (0..<values.count).contains { values[$0].place?.coordinates != nil } }

    mutating func remove(_ city: Int) {
        if city < values.count { values[city] = CityExtras() }
    }
}

/// Finds a city by the hash of its name: open addressing with linear probing, half full at most.
///
/// Keeps 32 bits of each hash, so growing and removing need no name; the caller compares names.
struct CityTable: Sendable {
    /// The hash's bits above, the city's number + 1 below; 0 is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 16)
    private var mask = 15
    private(set) var count = 0

    /// The first of the cities whose names may have the hash that is the sought one.
    @inline(__always)
    func find(_ hash: UInt64, where isSought: (Int) -> Bool) -> Int? {
        let tag = Self.tag(hash)
        var position = Int(truncatingIfNeeded: tag) & mask
        while slots[position] != 0 {
            let city = Int(truncatingIfNeeded: slots[position] & 0xFFFF_FFFF) &- 1
            if slots[position] &>> 32 == tag, isSought(city) { return city }
            position = (position &+ 1) & mask
        }
        return nil
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
        // Close the hole: move back the entries that were displaced past it, or their searches would end at the hole.
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

    private func home(_ entry: UInt64) -> Int { Int(truncatingIfNeeded: entry >> 32) & mask }

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

/// A run of cities that follow each other in the order of names.
struct CityRun: Sendable {
    /// The numbers of the cities, sorted by name.
    var cities: [UInt32] = []
    /// The store's version when a city last came or went.
    var layoutVersion: UInt64 = 0
}

/// All cities by name, in runs: a city that comes or goes concerns one run and moves no other.
///
/// There are few runs however many cities there are, because a scrape sends each run's text as blocks of its own:
/// the more cities, the larger the runs.
///
/// A run keeps its place in `runs` while it exists; `sequence` says how the runs follow each other.
struct CityOrder: Sendable {
    /// Cities of a run, while there are few.
    private static let usualLimit = 256
    /// When there are more runs than this, small neighbours are joined.
    static let maximumRuns = 40

    private(set) var runs: [CityRun] = []
    private(set) var sequence: [UInt32] = []
    private var freeRuns: [UInt32] = []
    private var cityCount = 0

    /// A run with more cities is halved. Two neighbours that are joined have at most as many together, so there are
    /// never more than 33 runs after a joining.
    var runLimit: Int { max(Self.usualLimit, cityCount / 16) }

    /// - Parameter precedes: whether the name of the city with this number sorts before the new one's.
    mutating func insert(_ city: UInt32, version: UInt64, precedes: (UInt32) -> Bool) {
        cityCount += 1
        guard !sequence.isEmpty else {
            sequence.append(makeRun(CityRun(cities: [city], layoutVersion: version)))
            return
        }
        let (place, index) = search(precedes)
        let run = Int(sequence[place])
        runs[run].cities.insert(city, at: index)
        runs[run].layoutVersion = version
        guard runs[run].cities.count > runLimit else { return }
        split(place, version: version)
        if sequence.count > Self.maximumRuns { joinNeighbours(version: version) }
    }

    /// - Parameter precedes: whether the name of the city with this number sorts before the removed one's.
    mutating func remove(_ city: UInt32, version: UInt64, precedes: (UInt32) -> Bool) {
        let (place, index) = position(precedes)
        let run = Int(sequence[place])
        precondition(runs[run].cities[index] == city, "a city is where its name is sorted to")
        cityCount -= 1
        runs[run].cities.remove(at: index)
        runs[run].layoutVersion = version
        guard runs[run].cities.isEmpty else { return }
        sequence.remove(at: place)
        freeRuns.append(UInt32(run))
    }

    /// Position of the first city whose name is not less than the sought one: its run's place in the sequence, which is
    /// the sequence's end if there is none, and its index there.
    func position(_ precedes: (UInt32) -> Bool) -> (place: Int, index: Int) {
        guard !sequence.isEmpty else { return (0, 0) }
        let (place, index) = search(precedes)
        return index < runs[Int(sequence[place])].cities.count ? (place, index) : (place + 1, 0)
    }

    /// The same, but the end of the run before if it is a run's first.
    private func search(_ precedes: (UInt32) -> Bool) -> (place: Int, index: Int) {
        // The last run whose first city sorts before, else the first run.
        let place = max(0, Self.partition(sequence.count) { precedes(runs[Int(sequence[$0])].cities[0]) } - 1)
        let cities = runs[Int(sequence[place])].cities
        return (place, Self.partition(cities.count) { precedes(cities[$0]) })
    }

    private mutating func split(_ place: Int, version: UInt64) {
        let run = Int(sequence[place])
        let middle = runs[run].cities.count / 2
        let number = makeRun(CityRun(cities: Array(runs[run].cities[middle...]), layoutVersion: version))
        runs[run].cities.removeSubrange(middle...)
        sequence.insert(number, at: place + 1)
    }

    private mutating func joinNeighbours(version: UInt64) {
        var joined: [UInt32] = []
        for number in sequence {
            let cities = runs[Int(number)].cities
            if let last = joined.last.map({ Int($0) }), runs[last].cities.count + cities.count <= runLimit {
                runs[last].cities += cities
                runs[last].layoutVersion = version
                runs[Int(number)].cities = []
                freeRuns.append(number)
            } else {
                joined.append(number)
            }
        }
        sequence = joined
    }

    private mutating func makeRun(_ run: CityRun) -> UInt32 {
        if let free = freeRuns.popLast() {
            runs[Int(free)] = run
            return free
        }
        runs.append(run)
        return UInt32(runs.count - 1)
    }

    /// Number of leading indices below `count` for which the condition holds; they come first.
    private static func partition(_ count: Int, _ isTrue: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
