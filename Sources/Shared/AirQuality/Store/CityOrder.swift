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
        var (place, index) = search(precedes)
        // At the end of a run's cities, if it is the first of the next run.
        if index == runs[Int(sequence[place])].cities.count { (place, index) = (place + 1, 0) }
        let run = Int(sequence[place])
        precondition(runs[run].cities[index] == city, "a city is where its name is sorted to")
        cityCount -= 1
        runs[run].cities.remove(at: index)
        runs[run].layoutVersion = version
        guard runs[run].cities.isEmpty else { return }
        sequence.remove(at: place)
        freeRuns.append(UInt32(run))
    }

    /// Position of the first city whose name is not less than the sought one: its run's place in the sequence, and its index
    /// there, which is the end of the run if it is the next run's first.
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

    /// How many of the first `count` indices, sorted so that those come first, are true.
    private static func partition(_ count: Int, _ isTrue: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
