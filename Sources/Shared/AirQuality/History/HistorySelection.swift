internal import Bytes
public import HTTPText

/// Points that a client of the history asks for.
public struct HistoryQuery: Sendable, Equatable {
    /// Names, byte for byte; nil: all cities.
    public var cities: [[UInt8]]?
    /// The newest so many of each city; nil: all.
    public var limit: Int?
    /// Points later than this.
    public var since: Timestamp?

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`.
    public init(_ query: String) throws(QueryError) {
        var cities: [[UInt8]] = []
        for field in formFields(query) {
            guard let name = field.name.map({ String(decoding: $0, as: UTF8.self) }) else {
                throw QueryError("a parameter's name is not percent-encoded UTF-8")
            }
            guard let value = field.value else {
                throw QueryError("the value of \(quoted(name, limit: 64)) is not percent-encoded UTF-8")
            }
            let parameter = QueryParameter(name: name, value: value)
            switch name {
            case "city":
                guard !value.isEmpty else { throw QueryError("city is empty, expected a city's name") }
                cities.append(value)
            case "limit":
                guard limit == nil else { throw QueryError("limit is given twice") }
                limit = Int(clamping: try parameter.positive)
            case "since":
                guard since == nil else { throw QueryError("since is given twice") }
                since = try parameter.time(upTo: .max)
            default: throw QueryError("unknown parameter \(quoted(name, limit: 64)), expected city, limit or since")
            }
        }
        if !cities.isEmpty { self.cities = cities }
    }
}

extension History {
    /// Of the points that a query asks for.
    fileprivate func indices(_ query: HistoryQuery) -> Range<Int> {
        let first = max(0, count - (query.limit ?? count))
        return max(first, query.since.map { firstIndex(after: $0) } ?? 0)..<count
    }

    /// Of the first point later than that.
    func firstIndex(after time: Timestamp) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The points that match a query at this moment: their count, a checksum, and the cities and times at which to find
/// them. The points themselves are not copied.
public struct HistorySelection: Sendable {
    /// Number of points in the document.
    public private(set) var pointCount = 0
    /// Tells one document from another, the same in every process.
    public private(set) var checksum: UInt64
    /// When they last changed.
    private(set) var changedAt: Timestamp
    /// Those with points, sorted by name.
    private(set) var cities: [City] = []
    let names: NameArena
    /// The moment; until the document is made, because what changes in the meantime is copied.
    var snapshot: StoreSnapshot?
    /// Times of points taken at random, so that the document can be divided.
    private var sample: [Timestamp] = []

    struct City: Sendable {
        var number: Int
        /// Tells it apart from a later city of that number.
        var insertion: UInt64
        var name: Range<Int>
        /// Of its first point and its last.
        var times: ClosedRange<Timestamp>
    }

    public init(_ store: ReadingStore, query: HistoryQuery) {
        let snapshot = store.snapshot(withHistories: true)
        let rules = store.rules
        let wanted = query.cities.map(Set.init)
        self.snapshot = snapshot
        names = snapshot.names
        // If all cities are shown, the expiry of a city changes the document. A restart does not change it, because the
        // restored points are the same.
        changedAt = wanted == nil ? snapshot.expiredAt ?? 0 : 0
        checksum = ByteHash.hash(
            Array("\(rules.scale.name) \(rules.history.capacity) \(rules.history.interval)".utf8).span, seed: 0)
        if query.cities == nil { cities.reserveCapacity(snapshot.cityCount) }
        let samplingRate = UInt64(max(1, snapshot.pointCount / Self.sampleCount))
        for number in snapshot.cities {
            let (state, history) = (snapshot.states[number], snapshot.histories[number])
            if let wanted, !wanted.contains(Array(names[state.nameRange])) { continue }
            let shown = history.indices(query)
            guard !shown.isEmpty else { continue }
            changedAt = max(changedAt, history.changedAt)
            add(ByteHash.hash(names[state.nameRange].span, seed: 0))
            for index in shown {
                let point = history[index]
                add(UInt64(bitPattern: point.time << 8 | Int64(point.category)))
                add(point.index.bitPattern)
                if checksum % samplingRate == 0 { sample.append(point.time) }
            }
            pointCount += shown.count
            let (first, last) = (history[shown.lowerBound].time, history[shown.upperBound - 1].time)
            cities.append(
                City(
                    number: number, insertion: snapshot.states.insertion(of: number), name: state.nameRange,
                    times: first...max(first, last)))
        }
        if cities.isEmpty { changedAt = max(changedAt, snapshot.startedAt) }
        add(UInt64(bitPattern: changedAt))
        sample.sort()
    }

    private mutating func add(_ word: UInt64) { checksum = ByteHash.fold(checksum, with: word) }

    private static let sampleCount = 16_384

    /// Times that divide the points into runs of about so many; the last run ends with the last point.
    func ends(runLength: Int) -> [Timestamp] {
        let count = pointCount / runLength + 1
        var ends: [Timestamp] = []
        for number in 1..<count {
            let time = sample.isEmpty ? .max : sample[number * sample.count / count]
            if time != ends.last { ends.append(time) }
        }
        return ends + [.max]
    }
}
