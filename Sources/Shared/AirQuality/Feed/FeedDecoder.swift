internal import Bytes
internal import JSON

/// Turns a message into readings and rejections. An element that cannot be used never takes its neighbours with it.
///
/// ```swift
/// var decoder = FeedDecoder(format: FeedFormat(valueField: "/now/aqi"))
/// let message = Array(#"[{"city": "Pune", "now": {"aqi": 51}}]"#.utf8)
/// store.record(decoder.decode(message.span, receivedAt: currentTime()), feed: 0)
/// ```
///
/// Used from one thread at a time.
public struct FeedDecoder: ~Copyable {
    /// Milliseconds that a reading's time may be ahead of its arrival.
    static let maximumLead: Int64 = 60_000
    /// The first time that is accepted, 2000-01-01T00:00:00Z: what is older is a clock that was never set.
    static let earliest: Timestamp = 946_684_800_000

    private enum Member { static let city = 0, value = 1, time = 2 }
    private let pollutants: JSONObjectMember?
    private let subindices: JSONObjectMember?
    private let place: JSONObjectMember?

    private var reader: JSONRecordReader
    private let format: FeedFormat
    private var unknownPollutants = BoundedReport()
    /// Whether a reading had a time without a zone, and whether that has been taken.
    private var timesWithoutZone = (areSeen: false, areTaken: false)

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
        self.pollutants = pollutants
        self.subindices = subindices
        self.place = place
        reader = JSONRecordReader(items: format.items, members: members, objects: objects)
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - message: the message as it came; anything but UTF-8 is rejected.
    ///   - receivedAt: when the whole message had arrived.
    ///   - program: makes the elements of a message that is valid JSON, as an array of them that is JSON as well, empty
    ///     for none; `nil` for a message that it cannot read. Called at most once.
    /// - Returns: what ``ReadingStore/record(_:feed:)`` takes in.
    public mutating func decode(
        _ message: Span<UInt8>, receivedAt: Timestamp, through program: (Span<UInt8>) -> [UInt8]?
    ) -> FeedMessage {
        guard reader.read(message) != .notJSON else {
            return FeedMessage(rejectedAs: .notJSON, byteCount: message.count, receivedAt: receivedAt)
        }
        guard let elements = program(message) else {
            return FeedMessage(rejectedAs: .jqError, byteCount: message.count, receivedAt: receivedAt)
        }
        var decoded = FeedMessage(byteCount: message.count, receivedAt: receivedAt)
        if elements.isEmpty { decoded.isWithoutReadings = true } else { decode(elements.span, into: &decoded) }
        return decoded
    }

    /// Decodes a message whose elements need no program.
    public mutating func decode(_ message: Span<UInt8>, receivedAt: Timestamp) -> FeedMessage {
        var decoded = FeedMessage(byteCount: message.count, receivedAt: receivedAt)
        decode(message, into: &decoded)
        return decoded
    }

    private mutating func decode(_ message: Span<UInt8>, into decoded: inout FeedMessage) {
        switch reader.read(message) {
        case .notJSON: decoded.rejections[.notJSON] = 1
        case .notAnArray: decoded.rejections[.notAnArray] = 1
        case .nothing: decoded.isWithoutReadings = true
        case .records:
            var first = 0
            var count = reader.nextRecords()
            decoded.reserveCapacity(count)
            while count > 0 {
                decode(records: count, first: first, into: &decoded)
                for name in reader.unknownInnerMembers { unknownPollutants.insert(name.span) }
                first += count
                count = reader.nextRecords()
            }
            decoded.isWithoutReadings = decoded.isEmpty
        }
        if decoded.hasTimesWithoutZone { timesWithoutZone.areSeen = true }
    }

    /// - Parameter first: the number of the first record in the message.
    private borrowing func decode(records: Int, first: Int, into message: inout FeedMessage) {
        reader.withTexts { texts in
            for record in 0..<records {
                do throws(RejectionReason) {
                    try read(record, texts, into: &message)
                } catch {
                    if message.rejections[error] == 0 { message.firstRejected[error] = first + record }
                    message.rejections[error] += 1
                }
            }
        }
    }

    private borrowing func read(
        _ record: Int, _ texts: Span<UInt8>, into message: inout FeedMessage
    ) throws(RejectionReason) {
        let city = reader.value(record: record, member: Member.city)
        switch city {
        case .notAnObject: throw .notAnObject
        case .absent, .null: throw .noCity
        case .other, .object: throw .badCity
        case .number:
            guard let digits = reader.wholeNumber(record: record, member: Member.city) else { throw .badCity }
            try read(record, named: digits.span, texts, into: &message)
        case .text(let range):
            guard let name = CityName.accepted(texts, in: range) else { throw .badCity }
            try read(record, named: texts.extracting(name), texts, into: &message)
        }
    }

    private borrowing func read(
        _ record: Int, named name: Span<UInt8>, _ texts: Span<UInt8>, into message: inout FeedMessage
    ) throws(RejectionReason) {
        if let shard = format.shard, !shard.contains(name) {
            message.skipped += 1
            return
        }
        let index = try Self.index(reader.value(record: record, member: Member.value), texts)
        let time = format.timeField.isEmpty ? nil : try self.time(record, texts, in: &message)
        var reading = Reading(
            nameHash: CityName.hash(name), index: index, time: time ?? message.receivedAt, hasOwnTime: time != nil,
            nameOffset: 0, nameCount: UInt8(name.count))
        if pollutants != nil || subindices != nil || place != nil { reading.extras = extras(record, texts) }
        message.append(reading, named: name)
    }

    private static func index(_ value: JSONValue, _ texts: Span<UInt8>) throws(RejectionReason) -> Double {
        switch value {
        case .absent, .null: throw .noValue
        case .other, .object, .notAnObject: throw .badValue
        // Adding 0 makes 0 of -0.
        case .number(let number): return number + 0
        case .text(let range):
            let text = texts.extracting(range)
            guard let number = jsonNumber(text) else { throw saysNothing(text) ? .noValue : .badValue }
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

    /// - Returns: `nil` when the element says nothing of them.
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

    /// - Returns: `nil` when the element says nothing of it.
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

    /// Names in objects of concentrations that are none of the closed set, each given once, ten at most in the
    /// decoder's life.
    public mutating func takeUnknownPollutants() -> [String] { unknownPollutants.unreported() }

    /// Whether the text stands for a missing value: empty, `-`, `NA`, `N/A`.
    private static func saysNothing(_ text: Span<UInt8>) -> Bool {
        let range = CityName.trimmed(text, in: text.indices)
        guard range.count <= 3 else { return false }
        let bytes = range.map { text[$0] }
        return ["", "-", "NA", "N/A"].contains { equalsIgnoringCase(bytes, $0) }
    }

    /// - Returns: `nil` when the element gives none, or one without a zone.
    private borrowing func time(
        _ record: Int, _ texts: Span<UInt8>, in message: inout FeedMessage
    ) throws(RejectionReason) -> Timestamp? {
        let time: FeedTime?
        switch reader.value(record: record, member: Member.time) {
        // `null` says as little as nothing does, as with the other fields.
        case .absent, .null: return nil
        case .other, .object, .notAnObject: time = nil
        case .number(let number): time = FeedTime(epoch: number)
        case .text(let range): time = FeedTime(texts.extracting(range), zone: format.timeZone)
        }
        switch time {
        case .at(let time) where time >= Self.earliest && time <= message.receivedAt + Self.maximumLead: return time
        case .withoutZone:
            message.hasTimesWithoutZone = true
            return nil
        default: throw .badTime
        }
    }

    /// Whether readings have stood with their arrival, because their times name no zone; once in the decoder's life.
    public mutating func takeTimesWithoutZone() -> Bool {
        guard timesWithoutZone.areSeen, !timesWithoutZone.areTaken else { return false }
        timesWithoutZone.areTaken = true
        return true
    }
}
