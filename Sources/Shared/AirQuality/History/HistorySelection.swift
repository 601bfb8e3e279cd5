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
    /// The moment; until the document is made, because what changes in the meantime is copied.
    var snapshot: HistorySnapshot?
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

    /// Appends a name as it is in the document.
    func appendName(of city: City, to text: inout [UInt8]) {
        text.appendJSONEscaped(names[nameRange(of: city)].span)
    }

    /// Whether the number still belongs to the same city.
    func isStill(_ city: City, in snapshot: HistorySnapshot) -> Bool {
        let range = snapshot.states[Int(city.number)].nameRange
        return bytesEqual(
            snapshot.names[range].span, names[nameRange(of: city)].span)
    }

    public init(_ store: ReadingStore, query: HistoryQuery) {
        let snapshot = store.historySnapshot()
        let rules = store.rules
        self.snapshot = snapshot
        names = snapshot.names
        changedAt = 0
        checksum = ByteHash.hash(
            Array("\(rules.scale.name) \(rules.history.capacity) \(rules.history.interval)".utf8).span, seed: 0)
        if query.cities == nil { cities.reserveCapacity(snapshot.cityCount) }
        let samplingRate = UInt64(max(1, snapshot.pointCount / Self.sampleCount))
        changedAt = snapshot.forEachCity(of: query) { number, shown in
            let (range, history) = (snapshot.states[number].nameRange, snapshot.histories[number])
            add(ByteHash.hash(snapshot.names[range].span, seed: 0))
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
                    number: UInt32(number), nameOffset: UInt32(range.lowerBound), times: first...max(first, last),
                    nameCount: UInt8(range.count)))
        }
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
