import Bytes

/// The points that match a query at this moment: their count, a checksum, and the cities and times at which to find
/// them. The points themselves are not copied.
public struct HistorySelection: Sendable {
    /// How many points the document has.
    public private(set) var pointCount = 0
    /// Tells one document from another, the same in every process.
    public private(set) var checksum: UInt64
    /// When they last changed.
    private(set) var changedAt: Timestamp
    /// Those with points, sorted by name.
    private(set) var cities: [City] = []
    private let names: NameArena
    /// Times of points taken at random, so that the document can be divided.
    private var sample: [Timestamp] = []

    struct City: Sendable {
        var number: UInt32
        var nameOffset: UInt32
        /// Of its first point and its last.
        var times: ClosedRange<Timestamp>
        var nameCount: UInt8
    }

    private func nameRange(of city: City) -> Range<Int> {
        Int(city.nameOffset)..<Int(city.nameOffset) + Int(city.nameCount)
    }

    /// A name as it is in the document.
    func escapedName(of city: City) -> [UInt8] {
        jsonEscaped(names.bytes.span.extracting(nameRange(of: city)))
    }

    /// Whether the number still belongs to the same city.
    func isStill(_ city: City, in snapshot: HistorySnapshot) -> Bool {
        let range = snapshot.states[Int(city.number)].nameRange
        return bytesEqual(snapshot.names.bytes.span, in: range, names.bytes.span, in: nameRange(of: city))
    }

    public init(_ store: ReadingStore, query: HistoryQuery) {
        let snapshot = store.historySnapshot()
        let rules = store.rules
        let wanted = query.cities.map(Set.init)
        names = snapshot.names
        changedAt = wanted == nil ? snapshot.expiredAt ?? 0 : 0
        checksum = ByteHash.hash(
            Array("\(rules.scale.name) \(rules.history.capacity) \(rules.history.interval)".utf8).span, seed: 0)
        if wanted == nil { cities.reserveCapacity(snapshot.cityCount) }
        let samplingRate = UInt64(max(1, snapshot.pointCount / Self.sampleCount))
        for run in snapshot.order.sequence {
            for number in snapshot.order.runs[Int(run)].cities {
                let range = snapshot.states[Int(number)].nameRange
                if let wanted, !wanted.contains(Array(snapshot.names.bytes[range])) { continue }
                let history = snapshot.histories[Int(number)]
                let shown = history.indices(query)
                guard let first = shown.first, let last = shown.last else { continue }
                add(ByteHash.hash(snapshot.names.bytes.span, in: range, seed: 0))
                for index in shown {
                    let point = history[index]
                    add(UInt64(bitPattern: point.time << 8 | Int64(point.category)))
                    add(point.index.bitPattern)
                    if checksum % samplingRate == 0 { sample.append(point.time) }
                }
                pointCount += shown.count
                changedAt = max(changedAt, history.changedAt)
                cities.append(
                    City(
                        number: number, nameOffset: UInt32(range.lowerBound),
                        times: history[first].time...max(history[first].time, history[last].time),
                        nameCount: UInt8(range.count)))
            }
        }
        if pointCount == 0 { changedAt = max(changedAt, snapshot.startedAt) }
        add(UInt64(bitPattern: changedAt))
        sample.sort()
    }

    private mutating func add(_ word: UInt64) {
        checksum = ByteHash.fold(checksum, with: word)
    }

    private static let sampleCount = 16_384

    /// Times that divide the points into runs of about so many; the last run ends with the last point.
    func ends(runLength: Int) -> [Timestamp] {
        let count = pointCount / runLength + 1
        var ends: [Timestamp] = []
        for number in 1..<max(1, count) {
            let time = sample.isEmpty ? .max : sample[number * sample.count / count]
            if time != ends.last { ends.append(time) }
        }
        return ends + [.max]
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
