internal import Bytes
internal import JSON

/// The fields of a feed's messages, and the cities to keep.
public struct FeedFormat: Sendable {
    /// Path to the array.
    public var items: [[UInt8]]
    /// A member of the elements, or a JSON Pointer into them where it begins with `/`; so are the others.
    public var cityField: String
    public var valueField: String
    /// Empty: readings have the time of their arrival.
    public var timeField: String
    /// Empty: concentrations are not read; the same of sub-indices and places.
    public var pollutantsField: String
    public var subindicesField: String
    public var placeField: String
    /// nil: all cities.
    public var shard: Shard?

    public init(
        items: [[UInt8]] = [], cityField: String = "city", valueField: String = "aqi", timeField: String = "",
        pollutantsField: String = "", subindicesField: String = "", placeField: String = "", shard: Shard? = nil
    ) {
        self.items = items
        (self.cityField, self.valueField, self.timeField) = (cityField, valueField, timeField)
        self.pollutantsField = pollutantsField
        self.subindicesField = subindicesField
        self.placeField = placeField
        self.shard = shard
    }

    /// Those of which readings may bring the values.
    public var families: Set<CityFamilyName> {
        let fields: [CityFamilyName: String] = [
            .concentration: pollutantsField, .subindex: subindicesField, .place: placeField,
        ]
        return Set(CityFamilyName.allCases.filter { fields[$0] != "" })
    }
}

/// Turns a message into readings and rejections. An element that cannot be used never takes its neighbours with it.
///
/// Used from one thread at a time.
public struct FeedDecoder: ~Copyable {
    /// Milliseconds that a reading's time may be ahead of its arrival.
    static let maximumLead: Int64 = 60_000

    private enum Member { static let city = 0, value = 1, time = 2 }
    private let pollutants: JSONObjectMember?
    private let subindices: JSONObjectMember?
    private let place: JSONObjectMember?

    private var reader: JSONRecordReader
    private let format: FeedFormat
    private var unknownPollutants = BoundedReport()
    /// Reasons of which the first element has been described.
    private var described = RejectionCounts()

    public init(format: FeedFormat) {
        self.format = format
        var members = [format.cityField, format.valueField] + (format.timeField.isEmpty ? [] : [format.timeField])
        var objects: [JSONObjectMember] = []
        func add(_ name: String, _ inner: [String], isClosed: Bool) -> JSONObjectMember? {
            guard !name.isEmpty else { return nil }
            members.append(name)
            objects.append(JSONObjectMember(member: members.count - 1, names: inner, notesUnknown: isClosed))
            return objects.last
        }
        let pollutants = add(format.pollutantsField, PollutantValues.pollutants, isClosed: true)
        let subindices = add(format.subindicesField, PollutantValues.pollutants, isClosed: true)
        let place = add(format.placeField, CityPlace.fields, isClosed: false)
        (self.pollutants, self.subindices, self.place) = (pollutants, subindices, place)
        reader = JSONRecordReader(items: format.items, members: members, objects: objects)
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - message: UTF-8, as it came.
    ///   - receivedAt: when the whole message had arrived.
    /// - Returns: what ``ReadingStore/record(_:feed:)`` takes in.
    public mutating func decode(_ message: Span<UInt8>, receivedAt: Timestamp) -> FeedMessage {
        var decoded = FeedMessage(byteCount: message.count, receivedAt: receivedAt)
        switch reader.read(message) {
        case .notJSON: decoded.rejections[.notJSON] = 1
        case .notAnArray:
            decoded.rejections[.notAnArray] = 1
            describe(0, rejectedFor: .notAnArray, in: &decoded)
        case .records:
            var count = reader.nextRecords()
            decoded.reserveCapacity(count)
            while count > 0 {
                for (reason, record) in decode(records: count, into: &decoded) {
                    describe(record, rejectedFor: reason, in: &decoded)
                }
                for name in reader.unknownInnerMembers { unknownPollutants.insert(name.span) }
                count = reader.nextRecords()
            }
            decoded.isWithoutReadings = decoded.isEmpty
        }
        return decoded
    }

    /// - Returns: the first records that were rejected for each reason.
    private borrowing func decode(
        records: Int, into message: inout FeedMessage
    ) -> [(reason: RejectionReason, record: Int)] {
        var firsts: [(RejectionReason, Int)] = []
        let hasExtras = pollutants != nil || subindices != nil || place != nil
        reader.withTexts { texts in
            for record in 0..<records {
                do throws(RejectionReason) {
                    guard var reading = try reading(record, texts, receivedAt: message.receivedAt) else {
                        message.skipped += 1
                        continue
                    }
                    if hasExtras { reading.extras = extras(record, texts) }
                    message.append(reading, named: texts.extracting(reading.nameRange))
                } catch {
                    if message.rejections[error] == 0 { firsts.append((error, record)) }
                    message.rejections[error] += 1
                }
            }
        }
        return firsts
    }

    /// Notes what an element is like, the first one of its reason.
    private mutating func describe(_ record: Int, rejectedFor reason: RejectionReason, in message: inout FeedMessage) {
        guard described[reason] == 0 else { return }
        described[reason] = 1
        func isAbsent(_ member: Int) -> Bool {
            reason == .notAnArray || reader.value(record: record, member: member) == .absent
        }
        message.rejected.append(
            RejectedElement(
                reason: reason, shape: reader.description(of: record), lacksCity: isAbsent(Member.city),
                lacksValue: isAbsent(Member.value)))
    }

    /// Describes the first element of each reason once more: for a new connection.
    public mutating func beginConnection() { described = RejectionCounts() }

    /// - Returns: nil for a city of another shard.
    private borrowing func reading(
        _ record: Int, _ texts: Span<UInt8>, receivedAt: Timestamp
    ) throws(RejectionReason) -> Reading? {
        let name = try cityName(reader.value(record: record, member: Member.city), texts)
        if let shard = format.shard, !shard.contains(texts.extracting(name)) { return nil }
        let index = try Self.index(reader.value(record: record, member: Member.value), texts)
        var time: Timestamp?
        if !format.timeField.isEmpty {
            time = try self.time(reader.value(record: record, member: Member.time), texts, receivedAt: receivedAt)
        }
        return Reading(
            nameHash: CityName.hash(texts.extracting(name)), index: index, time: time ?? receivedAt,
            hasOwnTime: time != nil, nameOffset: UInt32(name.lowerBound), nameCount: UInt8(name.count))
    }

    /// - Returns: where the name is.
    private borrowing func cityName(_ value: JSONValue, _ texts: Span<UInt8>) throws(RejectionReason) -> Range<Int> {
        switch value {
        case .notAnObject: throw .notAnObject
        case .absent, .null: throw .noCity
        case .number, .other, .object: throw .badCity
        case .text(let range):
            guard let name = CityName.accepted(texts, in: range) else { throw .badCity }
            return name
        }
    }

    private static func index(_ value: JSONValue, _ texts: Span<UInt8>) throws(RejectionReason) -> Double {
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

    @inline(never)
    private borrowing func extras(_ record: Int, _ texts: Span<UInt8>) -> CityExtras? {
        let concentrations = values(record, pollutants, texts, upTo: Pollutant.maximumConcentration)
        let subIndices = values(record, subindices, texts, upTo: IndexRange.maximum)
        let place = place(record, texts)
        if concentrations == nil, subIndices == nil, place == nil { return nil }
        return CityExtras(concentrations: concentrations, subIndices: subIndices, place: place)
    }

    /// - Returns: nil when the element says nothing of them.
    private borrowing func values(
        _ record: Int, _ object: JSONObjectMember?, _ texts: Span<UInt8>, upTo maximum: Double
    ) -> PollutantValues? {
        guard let object else { return nil }
        var values = PollutantValues()
        switch reader.value(record: record, member: object.member) {
        // `null` counts as absent, as with the other members.
        case .absent, .null, .notAnObject: return nil
        // Present, but without any value: all of them become unknown.
        case .text, .number, .other: break
        case .object:
            for pollutant in PollutantValues.pollutants.indices {
                values[pollutant] = number(record, object, pollutant, texts, in: 0...maximum)
            }
        }
        return values
    }

    /// - Returns: nil when the element says nothing of it.
    private borrowing func place(_ record: Int, _ texts: Span<UInt8>) -> CityPlace? {
        guard let place, reader.value(record: record, member: place.member) == .object else { return nil }
        var country: [UInt8] = []
        if case .text(let range) = reader.value(record: record, object: place, inner: 0),
            let name = CityName.accepted(texts, in: range), name.count <= CityPlace.maximumCountryBytes
        {
            country = name.map { texts[$0] }
        }
        let latitude = number(record, place, 1, texts, in: -90...90)
        let longitude = number(record, place, 2, texts, in: -180...180)
        if country.isEmpty, latitude == nil, longitude == nil { return nil }
        return CityPlace(country: country, latitude: latitude, longitude: longitude)
    }

    private borrowing func number(
        _ record: Int, _ object: JSONObjectMember, _ inner: Int, _ texts: Span<UInt8>, in range: ClosedRange<Double>
    ) -> Double? {
        let number: Double? =
            switch reader.value(record: record, object: object, inner: inner) {
            case .number(let number): number
            case .text(let range): jsonNumber(texts.extracting(range))
            case .absent, .null, .other, .object, .notAnObject: nil
            }
        // Adding 0 makes 0 of -0.
        return number.flatMap { range.contains($0) ? $0 + 0 : nil }
    }

    /// Names in objects of concentrations that are none of the closed set, each given once, ten at most in the decoder's
    /// life.
    public mutating func takeUnknownPollutants() -> [String] { unknownPollutants.unreported() }

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

    /// - Returns: `nil` when the element gives none.
    private borrowing func time(
        _ value: JSONValue, _ texts: Span<UInt8>, receivedAt: Timestamp
    ) throws(RejectionReason) -> Timestamp? {
        let time: Timestamp?
        switch value {
        // `null` says as little as nothing does, as with the other members.
        case .absent, .null: return nil
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
