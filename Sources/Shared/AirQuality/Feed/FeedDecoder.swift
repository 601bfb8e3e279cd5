internal import Bytes
public import JSON

/// Where to find the values in a feed's messages, and which cities to keep.
public struct FeedFormat: Sendable {
    /// Where the array is.
    public var items: JSONPointer
    public var cityField: String
    public var valueField: String
    /// nil: readings have the time of their arrival.
    public var timeField: String?
    /// nil: concentrations are not read.
    public var pollutantsField: String?
    /// nil: all cities.
    public var shard: Shard?

    public init(
        items: JSONPointer = JSONPointer(), cityField: String = "city", valueField: String = "aqi",
        timeField: String? = nil, pollutantsField: String? = nil, shard: Shard? = nil
    ) {
        self.items = items
        self.cityField = cityField
        self.valueField = valueField
        self.timeField = timeField
        self.pollutantsField = pollutantsField
        self.shard = shard
    }
}

/// Turns a message into readings and refusals. An element that cannot be used never takes its neighbours with it.
///
/// Used from one thread at a time.
public struct FeedDecoder: ~Copyable {
    /// How far ahead of the arrival a reading's time may be, in milliseconds.
    static let maximumLead: Int64 = 60_000

    private enum Member {
        static let city = 0, value = 1, time = 2
    }
    /// Where the object of concentrations is, which is the last member.
    private let pollutantsMember: Int?

    private var reader: JSONRecordReader
    private let format: FeedFormat
    /// Kept from message to message to save the allocations.
    private var part = MessagePart(receivedAt: 0)
    private var unknownPollutants = FirstNames()

    public init(format: FeedFormat) {
        self.format = format
        let members =
            [format.cityField, format.valueField] + [format.timeField, format.pollutantsField].compactMap(\.self)
        pollutantsMember = format.pollutantsField == nil ? nil : members.count - 1
        reader = JSONRecordReader(
            items: format.items, members: members,
            innerMembers: format.pollutantsField == nil ? [] : Concentrations.pollutants)
    }

    /// Decodes a text message.
    ///
    /// - Parameters:
    ///   - receivedAt: when the whole message had arrived.
    ///   - body: is lent each part of the message in turn, at least one, and the bytes that its readings' names point into.
    public mutating func decode(
        _ message: Span<UInt8>, receivedAt: Timestamp, _ body: (_ part: MessagePart, _ names: Span<UInt8>) -> Void
    ) {
        // Moved out of `self`, because `decode(records:into:)` borrows `self` while it changes this.
        var part = MessagePart(receivedAt: receivedAt)
        swap(&part.readings, &self.part.readings)
        swap(&part.concentrations, &self.part.concentrations)
        part.messageByteCount = message.count
        switch reader.read(message) {
        case .notJSON:
            part.refusals[.notJSON] = 1
            body(part, Span())
        case .notAnArray:
            part.refusals[.notAnArray] = 1
            body(part, Span())
        case .records:
            var count = reader.nextRecords()
            repeat {
                decode(records: count, into: &part)
                reader.withTexts { body(part, $0) }
                if pollutantsMember != nil { noteUnknownPollutants() }
                part.removeAll()
                count = reader.nextRecords()
            } while count > 0
        }
        part.removeAll()
        swap(&part, &self.part)
    }

    private borrowing func decode(records: Int, into part: inout MessagePart) {
        var (refusals, skipped) = (part.refusals, part.skipped)
        var concentrations: [(reading: Int, values: Concentrations)] = []
        swap(&concentrations, &part.concentrations)
        let (receivedAt, pollutants) = (part.receivedAt, pollutantsMember)
        part.readings.append(addingCapacity: records) { readings in
            reader.withTexts { texts in
                for record in 0..<records {
                    do throws(RefusalReason) {
                        if let reading = try reading(record, texts, receivedAt: receivedAt) {
                            if let pollutants, let values = self.concentrations(record, pollutants, texts) {
                                concentrations.append((readings.count, values))
                            }
                            readings.append(reading)
                        } else {
                            skipped += 1
                        }
                    } catch {
                        refusals[error] += 1
                    }
                }
            }
        }
        part.refusals = refusals
        part.skipped = skipped
        swap(&concentrations, &part.concentrations)
    }

    /// - Returns: nil for a city of another shard.
    private borrowing func reading(
        _ record: Int, _ texts: Span<UInt8>, receivedAt: Timestamp
    ) throws(RefusalReason) -> Reading? {
        let name = try cityName(reader.value(record: record, member: Member.city), texts)
        if let shard = format.shard, !shard.contains(texts.extracting(name)) { return nil }
        let index = try Self.index(reader.value(record: record, member: Member.value), texts)
        var time = receivedAt
        if format.timeField != nil {
            time = try self.time(reader.value(record: record, member: Member.time), texts, receivedAt: receivedAt)
        }
        return Reading(
            nameHash: CityName.hash(texts.extracting(name)), index: index, time: time,
            nameOffset: UInt32(name.lowerBound), nameCount: UInt8(name.count))
    }

    /// - Returns: where the name is.
    private borrowing func cityName(_ value: JSONValue, _ texts: Span<UInt8>) throws(RefusalReason) -> Range<Int> {
        switch value {
        case .notAnObject: throw .notAnObject
        case .absent, .null: throw .noCity
        case .number, .other, .object: throw .badCity
        case .text(let range):
            guard let name = CityName.accepted(texts, in: range) else { throw .badCity }
            return name
        }
    }

    /// Whether a member's value is an index that is accepted.
    public static func isIndex(_ value: JSONValue, _ texts: Span<UInt8>) -> Bool {
        (try? index(value, texts)).map(AirQualityIndex.isValid) ?? false
    }

    private static func index(_ value: JSONValue, _ texts: Span<UInt8>) throws(RefusalReason) -> Double {
        switch value {
        case .absent, .null: throw .noValue
        case .other, .object, .notAnObject: throw .badValue
        // Adding 0 makes 0 of -0.
        case .number(let number): return number + 0
        case .text(let range):
            let text = texts.extracting(range)
            if saysNothing(text) { throw .noValue }
            guard let number = jsonNumber(text) else { throw .badValue }
            return number + 0
        }
    }

    /// - Returns: nil when the element says nothing of them.
    @inline(never)
    private borrowing func concentrations(_ record: Int, _ member: Int, _ texts: Span<UInt8>) -> Concentrations? {
        var concentrations = Concentrations()
        switch reader.value(record: record, member: member) {
        // `null` counts as absent, as with the other members.
        case .absent, .null, .notAnObject: return nil
        // Present, but without any concentration: all of them become unknown.
        case .text, .number, .other: break
        case .object:
            for pollutant in Concentrations.pollutants.indices {
                let number: Double? =
                    switch reader.value(record: record, member: member + 1 + pollutant) {
                    case .number(let number): number
                    case .text(let range): jsonNumber(texts.extracting(range))
                    case .absent, .null, .other, .object, .notAnObject: nil
                    }
                concentrations[pollutant] = number.flatMap(Concentrations.accepted)
            }
        }
        return concentrations
    }

    private mutating func noteUnknownPollutants() {
        let names = reader.unknownInnerMembers
        guard !names.isEmpty else { return }
        var unknown = unknownPollutants
        reader.withTexts { texts in
            for name in names { unknown.insert(texts.extracting(name)) }
        }
        unknownPollutants = unknown
    }

    /// Names in objects of concentrations that are none of the closed set, each given once, ten at most in the decoder's
    /// life.
    public mutating func takeUnknownPollutants() -> [String] { unknownPollutants.takeNew() }

    /// Whether the text stands for a missing value: empty, `-`, `NA`, `N/A`.
    private static func saysNothing(_ text: Span<UInt8>) -> Bool {
        let text = text.extracting(CityName.trimmed(text, in: text.indices))
        func letter(_ index: Int) -> UInt8 { text[index] | 0x20 }
        let (n, a) = (UInt8(ascii: "n"), UInt8(ascii: "a"))
        switch text.count {
        case 0: return true
        case 1: return text[0] == UInt8(ascii: "-")
        case 2: return letter(0) == n && letter(1) == a
        case 3: return letter(0) == n && text[1] == UInt8(ascii: "/") && letter(2) == a
        default: return false
        }
    }

    private borrowing func time(
        _ value: JSONValue, _ texts: Span<UInt8>, receivedAt: Timestamp
    ) throws(RefusalReason) -> Timestamp {
        let time: Timestamp?
        switch value {
        // `null` says as little as nothing does, as with the other members.
        case .absent, .null: return receivedAt
        case .other, .object, .notAnObject: time = nil
        case .number(let number): time = Self.time(ofEpoch: number)
        case .text(let range): time = parseRFC3339(texts.extracting(range))
        }
        guard let time, time >= 0, time <= receivedAt + Self.maximumLead else { throw .badTime }
        return time
    }

    /// Epoch seconds (below 10¹¹) or milliseconds.
    private static func time(ofEpoch number: Double) -> Timestamp? {
        guard number >= 0, number < 1e15 else { return nil }
        return Timestamp((number < 1e11 ? number * 1000 : number).rounded())
    }
}
