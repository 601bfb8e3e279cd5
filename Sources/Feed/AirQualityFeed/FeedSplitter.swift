import AirQuality
import Bytes
import JSON

/// Divides the messages of a feed among shards, and keeps the last element of each city for clients that come later: the
/// last that has a value, if there was one, as an exporter keeps a city's last good value.
///
/// Elements stay as they came, byte for byte. One without a city that an exporter would take belongs to shard 0, so that
/// one exporter counts it.
struct FeedSplitter: ~Copyable {
    enum Outcome: Equatable {
        /// A JSON array for each shard that has elements in the message, in the order of the shards.
        case parts([Part])
        case refused(RefusalReason)
    }

    struct Part: Equatable {
        var shard: Int
        var message: [UInt8]
    }

    private struct KnownCity {
        /// Empty when there is no room for it.
        var element: [UInt8]
        var hasValue: Bool
        var namedAt: Duration
    }

    private struct ShardCache {
        var places: [[UInt8]: Int] = [:]
        /// In the order in which they came.
        var cities: [KnownCity] = []

        mutating func append(_ city: KnownCity, named name: [UInt8]) {
            places[name] = cities.count
            cities.append(city)
        }
    }

    /// So that a greeting's messages stay far below what clients accept.
    static let greetingBytes = 1 << 20
    /// Bytes that a city takes besides its name and its element.
    private static let overhead = 128

    private var reader: JSONRecordReader
    private let maximumKnownBytes: Int
    /// One for each shard.
    private var known: [ShardCache]
    private var knownBytes = 0
    /// Whether a city was not kept because too much is.
    private(set) var isFull = false

    /// - Parameters:
    ///   - cityField: the field with the city's name.
    ///   - valueField: the member with its index.
    ///   - maximumKnownBytes: of what is kept; cities beyond it are passed on and not kept.
    init(shards: Int, cityField: String, valueField: String = "aqi", maximumKnownBytes: Int = 256 << 20) {
        reader = JSONRecordReader(members: [cityField, valueField])
        known = Array(repeating: ShardCache(), count: shards)
        self.maximumKnownBytes = maximumKnownBytes
    }

    /// - Parameter now: when the message came.
    mutating func split(_ message: Span<UInt8>, at now: Duration = .zero) -> Outcome {
        switch reader.read(message) {
        case .notJSON: return .refused(.notJSON)
        case .notAnArray: return .refused(.notAnArray)
        case .records: break
        }
        var messages: [[UInt8]] = Array(repeating: [], count: known.count)
        var elements = JSONElements(of: message)
        while case let count = reader.nextRecords(), count > 0 {
            for record in 0..<count {
                guard let range = elements.next(in: message) else { preconditionFailure("a record is an element") }
                let element = message.extracting(range)
                let shard = take(element, record: record, at: now)
                append(element, to: &messages[shard], expecting: message.count / known.count)
            }
        }
        return .parts(
            messages.enumerated().filter { !$1.isEmpty }.map { Part(shard: $0, message: $1 + [UInt8(ascii: "]")]) })
    }

    /// The last elements of the cities of a shard, or of all shards, as messages.
    func everything(of shard: Int?) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var message: [UInt8] = []
        for shard in shards(shard) {
            for city in known[shard].cities where !city.element.isEmpty {
                let element = city.element
                if message.count + element.count >= Self.greetingBytes, !message.isEmpty {
                    messages.append(message + [UInt8(ascii: "]")])
                    message = []
                }
                append(element.span, to: &message, expecting: Self.greetingBytes)
            }
        }
        return message.isEmpty ? messages : messages + [message + [UInt8(ascii: "]")]]
    }

    /// The one, or all.
    private func shards(_ one: Int?) -> Range<Int> { one.map { $0..<$0 + 1 } ?? known.indices }

    /// Forgets the cities of a shard, or of all, that were last named before the time.
    mutating func forget(of shard: Int? = nil, namedBefore time: Duration) {
        for shard in shards(shard) where known[shard].cities.contains(where: { $0.namedAt < time }) {
            let old = known[shard]
            known[shard] = ShardCache()
            for (name, place) in old.places.sorted(by: { $0.value < $1.value }) {
                let city = old.cities[place]
                if city.namedAt < time {
                    knownBytes -= city.element.count + name.count + Self.overhead
                } else {
                    known[shard].append(city, named: name)
                }
            }
        }
    }

    /// Keeps the element, if it has a city.
    /// - Returns: its shard.
    private mutating func take(_ element: Span<UInt8>, record: Int, at now: Duration) -> Int {
        guard case .text(let text) = reader.value(record: record, member: 0) else { return 0 }
        let count = known.count
        let value = reader.value(record: record, member: 1)
        let city = reader.withTexts { texts -> (name: [UInt8], hasValue: Bool, shard: Int)? in
            guard let name = CityName.accepted(texts, in: text) else { return nil }
            let bytes = texts.extracting(name)
            return (
                copy(bytes), FeedDecoder.isIndex(value, texts), count == 1 ? 0 : Shard(of: bytes, count: count).index
            )
        }
        guard let (name, hasValue, shard) = city else { return 0 }
        keep(element, hasValue: hasValue, of: name, shard, at: now)
        return shard
    }

    private mutating func keep(
        _ element: Span<UInt8>, hasValue: Bool, of name: [UInt8], _ shard: Int, at now: Duration
    ) {
        let place = known[shard].places[name]
        if let place {
            // An exporter refuses it, and has not heard of the city.
            if known[shard].cities[place].hasValue, !hasValue { return }
            known[shard].cities[place].namedAt = now
            known[shard].cities[place].hasValue = hasValue
        }
        let before = place.map { known[shard].cities[$0].element.count } ?? 0
        let more = element.count - before + (place == nil ? name.count + Self.overhead : 0)
        guard knownBytes + more <= maximumKnownBytes else {
            isFull = true
            // An old element would be taken for the last one.
            if let place {
                known[shard].cities[place].element = []
                knownBytes -= before
            }
            return
        }
        knownBytes += more
        if let place {
            known[shard].cities[place].element = copy(element)
        } else {
            known[shard].append(KnownCity(element: copy(element), hasValue: hasValue, namedAt: now), named: name)
        }
    }
}

/// Goes on with an array of elements, whose end is still open.
private func append(_ element: Span<UInt8>, to message: inout [UInt8], expecting bytes: Int) {
    if message.isEmpty { message.reserveCapacity(bytes + bytes / 4 + element.count + 2) }
    message.append(UInt8(ascii: message.isEmpty ? "[" : ","))
    message.append(element)
}

func copy(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }
