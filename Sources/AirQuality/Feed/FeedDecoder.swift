public import JSON

/// Where a feed's messages hold what, and which cities are wanted.
public struct FeedFormat: Sendable {
    /// Where the array is.
    public var items: JSONPointer
    public var cityField: String
    public var valueField: String
    /// nil: readings have the time of their arrival.
    public var timeField: String?
    /// nil: all cities.
    public var shard: Shard?

    public init(
        items: JSONPointer = JSONPointer(), cityField: String = "city", valueField: String = "aqi",
        timeField: String? = nil, shard: Shard? = nil
    ) {
        self.items = items
        self.cityField = cityField
        self.valueField = valueField
        self.timeField = timeField
        self.shard = shard
    }
}

/// Turns a message into readings and refusals. An element that cannot be used never takes its neighbours with it.
///
/// Used from the feed's thread.
public struct FeedDecoder: ~Copyable {
    /// The largest index that is one.
    public static let maximumIndex = 9999.0
    /// How far ahead of the arrival a reading's time may be, in milliseconds.
    static let maximumLead: Int64 = 60_000

    private var reader: JSONRecordReader
    private let format: FeedFormat
    private let hashSeed: UInt64
    /// Of the message decoded last.
    private(set) var readings: [Reading] = []
    /// Of the message decoded last; the empty array when there are none, which is nearly always.
    private(set) var refusals: [RefusalReason] = []

    /// - Parameter hashSeed: the store's.
    public init(format: FeedFormat, hashSeed: UInt64) {
        self.format = format
        self.hashSeed = hashSeed
        reader = JSONRecordReader(
            items: format.items,
            members: [format.cityField, format.valueField] + (format.timeField.map { [$0] } ?? []),
            hashSeed: hashSeed)
    }

    /// - Parameter receivedAt: when the whole message had arrived.
    public mutating func decode(_ message: Span<UInt8>, receivedAt: Timestamp) {
        readings.removeAll(keepingCapacity: true)
        refusals.removeAll(keepingCapacity: true)
        switch reader.read(message) {
        case .notJSON: refusals.append(.notJSON)
        case .notAnArray: refusals.append(.notAnArray)
        case .pairs(let count):
            // Local arrays, because the decoder cannot change while it lends the pairs.
            var (readings, refusals) = (self.readings, self.refusals)
            (self.readings, self.refusals) = ([], [])
            readings.reserveCapacity(count)
            appendPairs(receivedAt: receivedAt, to: &readings, &refusals)
            (self.readings, self.refusals) = (readings, refusals)
        case .records(let count):
            for record in 0..<count {
                switch reading(record, receivedAt: receivedAt) {
                case .success(let reading?): readings.append(reading)
                case .success(nil): break
                case .failure(let refusal): refusals.append(refusal.reason)
                }
            }
        }
    }

    private borrowing func appendPairs(
        receivedAt: Timestamp, to readings: inout [Reading], _ refusals: inout [RefusalReason]
    ) {
        let isSharded = format.shard != nil
        reader.withPairs { pairs, _ in
            for index in pairs.indices {
                let pair = pairs[index]
                // What nearly all elements are: a plain name, an index in range.
                if pair.isPlain, pair.count <= CityName.maximumCount, pair.number >= 0,
                    pair.number <= Self.maximumIndex, !isSharded
                {
                    readings.append(
                        Reading(
                            nameOffset: pair.offset, nameCount: UInt8(truncatingIfNeeded: pair.count),
                            isOutOfRange: false, nameHash: pair.hash, index: Self.unsignedZero(pair.number),
                            time: receivedAt))
                    continue
                }
                switch reading(index, receivedAt: receivedAt) {
                case .success(let reading?): readings.append(reading)
                case .success(nil): break
                case .failure(let refusal): refusals.append(refusal.reason)
                }
            }
        }
    }

    /// Lends the bytes that the readings' names point into.
    func withBytes(_ body: (Span<UInt8>) -> Void) {
        reader.withBytes(body)
    }

    /// -0 as 0, which is what adding 0 makes of it.
    private static func unsignedZero(_ index: Double) -> Double { index + 0 }

    private struct Refusal: Error {
        var reason: RefusalReason
    }

    /// - Returns: nil for a city of another shard.
    private borrowing func reading(_ record: Int, receivedAt: Timestamp) -> Result<Reading?, Refusal> {
        guard reader.isObject(record: record) else { return .failure(Refusal(reason: .notAnObject)) }
        var result: Result<Reading?, Refusal> = .success(nil)
        reader.withBytes { bytes in
            result = Result { () throws(Refusal) in
                guard let name = try cityName(record, bytes) else { return nil }
                let index = try self.index(record, bytes)
                let time = try self.time(record, bytes, receivedAt: receivedAt)
                let isOutOfRange = !(index >= 0 && index <= Self.maximumIndex)
                return Reading(
                    nameOffset: UInt32(name.range.lowerBound), nameCount: UInt8(name.range.count),
                    isOutOfRange: isOutOfRange, nameHash: name.hash, index: Self.unsignedZero(index), time: time)
            }
        }
        return result
    }

    private borrowing func cityName(
        _ record: Int, _ bytes: Span<UInt8>
    ) throws(Refusal) -> (range: Range<Int>, hash: UInt64)? {
        switch reader.value(record: record, member: 0) {
        case .absent, .null: throw Refusal(reason: .noCity)
        case .number, .other: throw Refusal(reason: .badCity)
        case .text(let text):
            let whole = text.offset..<text.offset + text.count
            guard !text.hasLoneSurrogate, let name = CityName.accepted(bytes, in: whole) else {
                throw Refusal(reason: .badCity)
            }
            if let shard = format.shard, !shard.contains(bytes.extracting(name)) { return nil }
            return (name, name == whole ? text.hash : ByteHash.hash(bytes.extracting(name), seed: hashSeed))
        }
    }

    private borrowing func index(_ record: Int, _ bytes: Span<UInt8>) throws(Refusal) -> Double {
        switch reader.value(record: record, member: 1) {
        case .absent, .null: throw Refusal(reason: .noValue)
        case .other: throw Refusal(reason: .badValue)
        case .number(let number): return number
        case .text(let text):
            let text = bytes.extracting(text.offset..<text.offset + text.count)
            if Self.saysNothing(text) { throw Refusal(reason: .noValue) }
            guard let number = jsonNumber(text) else { throw Refusal(reason: .badValue) }
            return number
        }
    }

    /// Whether a value's text is one of those that sources send when there is no value: nothing, `-`, `NA`, `N/A`.
    private static func saysNothing(_ text: Span<UInt8>) -> Bool {
        var letters: [UInt8] = []
        for index in text.indices {
            let byte = text[index]
            if byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
            guard letters.count < 3 else { return false }
            letters.append((UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte)
        }
        return letters.isEmpty || letters == Array("-".utf8) || letters == Array("NA".utf8)
            || letters == Array("N/A".utf8)
    }

    private borrowing func time(
        _ record: Int, _ bytes: Span<UInt8>, receivedAt: Timestamp
    ) throws(Refusal) -> Timestamp {
        guard format.timeField != nil else { return receivedAt }
        let time: Timestamp?
        switch reader.value(record: record, member: 2) {
        // `null` says as little as nothing does, as with the other members.
        case .absent, .null: return receivedAt
        case .other: time = nil
        case .number(let number): time = TimeText.parse(number)
        case .text(let text): time = TimeText.parse(bytes.extracting(text.offset..<text.offset + text.count))
        }
        guard let time, time >= 0, time <= receivedAt + Self.maximumLead else { throw Refusal(reason: .badTime) }
        return time
    }
}
