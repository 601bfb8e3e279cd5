internal import Bytes
internal import JSON
internal import Synchronization

/// Decodes messages into readings and rejections; a bad element does not invalidate its message. Not thread-safe.
///
/// ```swift
/// var decoder = FeedDecoder(format: FeedFormat(valueField: "/now/aqi"))
/// let message = Array(#"[{"city": "Pune", "now": {"aqi": 51}}]"#.utf8)
/// store.record(decoder.decode(message.span, receivedAt: currentTime()), feed: 0)
/// ```
public struct FeedDecoder: ~Copyable {
    /// How far a reading's time may be ahead of its arrival, in milliseconds.
    static let maximumLead: Int64 = 60_000
    /// Earliest accepted time, 2000-01-01T00:00:00Z; anything older comes from a clock that was never set.
    static let earliest: Timestamp = 946_684_800_000
    /// From this size, messages are decoded one at a time per process: each takes about 15 times its size in memory.
    private static let longMessage = 256 << 10
    private static let longMessages = Mutex(())

    var reader = JSONReader()
    let format: FeedFormat
    private let hasExtras: Bool
    private var unknownPollutants = BoundedReport()
    /// Empty arrays of a recycled message, whose memory the next one reuses.
    private var spareReadings: [Reading] = []
    private var spareNames: [UInt8] = []

    public init(format: FeedFormat) {
        self.format = format
        hasExtras = ![format.pollutants, format.subindices, format.place].allSatisfy(\.isEmpty)
    }

    /// Decodes a message whose elements a program extracts.
    ///
    /// - Parameters:
    ///   - message: the received payload; rejected unless it is UTF-8.
    ///   - receivedAt: when the complete message had arrived.
    ///   - program: returns the elements of a message that is valid JSON as a JSON array, empty bytes for none; `nil`
    ///     on error. Called at most once.
    public mutating func decode(
        _ message: Span<UInt8>, receivedAt: Timestamp, through program: (Span<UInt8>) -> [UInt8]?
    ) -> FeedMessage {
        var whole = MessageExcerpt()
        let isJSON = Self.inTurn(message.count) {
            defer { reader.forget() }
            guard let positions = reader.read(message) else { return false }
            reader.withTexts { whole = excerpt(ofMessage: positions, $0) }
            return true
        }
        guard isJSON else {
            return FeedMessage(rejectedAs: .notJSON, byteCount: message.count, receivedAt: receivedAt)
        }
        guard let elements = program(message) else {
            return FeedMessage(rejectedAs: .jqError, whole, byteCount: message.count, receivedAt: receivedAt)
        }
        guard !elements.isEmpty else {
            var decoded = FeedMessage(byteCount: message.count, receivedAt: receivedAt)
            decoded.excerpt = whole
            return decoded
        }
        var decoded = Self.inTurn(elements.count) { read(elements.span, byteCount: message.count, receivedAt) }
        if decoded.readings.isEmpty { decoded.excerpt = whole }
        return decoded
    }

    public mutating func decode(_ message: Span<UInt8>, receivedAt: Timestamp) -> FeedMessage {
        Self.inTurn(message.count) { read(message, byteCount: message.count, receivedAt) }
    }

    /// Keeps the memory of a processed message for the next one.
    public mutating func recycle(_ message: consuming FeedMessage) {
        guard message.names.capacity <= 64 << 10, message.readings.capacity <= 4096 else { return }
        swap(&spareReadings, &message.readings)
        swap(&spareNames, &message.names)
        spareReadings.removeAll(keepingCapacity: true)
        spareNames.removeAll(keepingCapacity: true)
    }

    private static func inTurn<Result: ~Copyable>(_ byteCount: Int, _ read: () -> Result) -> Result {
        byteCount < longMessage ? read() : longMessages.withLock { _ in read() }
    }

    /// - Parameter byteCount: size of the received message, from which a program may have produced this one.
    private mutating func read(_ message: Span<UInt8>, byteCount: Int, _ receivedAt: Timestamp) -> FeedMessage {
        defer { reader.forget() }
        guard let places = reader.read(message) else {
            return FeedMessage(rejectedAs: .notJSON, byteCount: byteCount, receivedAt: receivedAt)
        }
        var decoded = FeedMessage(byteCount: byteCount, receivedAt: receivedAt)
        swap(&decoded.readings, &spareReadings)
        swap(&decoded.names, &spareNames)
        reader.appendTexts(to: &decoded.names)
        reader.withTexts { texts in
            var place = places.lowerBound
            while place < places.upperBound {
                if let items = reader.find(format.items, in: place) { decode(items: items, texts, into: &decoded) }
                place = reader.next(after: place)
            }
            if decoded.readings.isEmpty { decoded.excerpt = excerpt(ofMessage: places, texts) }
        }
        for name in decoded.unknownPollutants.names { unknownPollutants.insert(name.span) }
        return decoded
    }

    private borrowing func decode(items: Int, _ texts: Span<UInt8>, into message: inout FeedMessage) {
        let elements: Range<Int>
        switch reader.value(at: items) {
        case .array(let places): elements = places
        case .object: elements = items..<reader.next(after: items)
        // As with fields, `null` is the same as absent.
        case .null where !format.items.isEmpty: return
        case .null, .boolean, .number, .text:
            message.reject(as: .notAnArray) { excerpt(ofElement: items, texts) }
            return
        }
        // An element with two fields takes at least six places.
        message.readings.reserveCapacity(min(elements.count / 6, 128))
        var element = elements.lowerBound
        while element < elements.upperBound {
            do throws(RejectionReason) {
                try read(element, texts, into: &message)
            } catch {
                message.reject(as: error) { excerpt(ofElement: element, texts) }
            }
            element = reader.next(after: element)
        }
    }

    private borrowing func read(
        _ element: Int, _ texts: Span<UInt8>, into message: inout FeedMessage
    ) throws(RejectionReason) {
        let (city, value) = reader.find(format.city, format.value, in: element)
        guard let city else { throw mayHaveCity(element) ? .noCity : .notAnObject }
        let name: Range<Int>
        switch reader.value(at: city) {
        case .null: throw .noCity
        case .boolean, .array, .object: throw .badCity
        case .number:
            guard let digits = reader.wholeNumber(at: city) else { throw .badCity }
            name = message.names.count..<message.names.count + digits.count
            message.names += digits
        case .text(let range):
            guard let accepted = CityName.accepted(texts, in: range) else { throw .badCity }
            name = accepted
        }
        let index = try Self.index(value.map { reader.value(at: $0) }, texts)
        let time = format.time.isEmpty ? nil : try time(of: element, texts, in: &message)
        if hasExtras { message.extras.append(extras(of: element, texts, in: &message)) }
        message.readings.append(
            Reading(
                index: index, time: time ?? message.receivedAt, hasOwnTime: time != nil,
                nameStart: UInt32(name.lowerBound), nameCount: UInt8(name.count)))
    }

    /// Whether a city can be found in the element: an object, or an array if the path begins with an index.
    private borrowing func mayHaveCity(_ element: Int) -> Bool {
        switch reader.value(at: element) {
        case .object: true
        case .array: format.city[0].allSatisfy(isDigit)
        case .null, .boolean, .number, .text: false
        }
    }

    @inline(__always)
    private borrowing func value(of path: [[UInt8]], in element: Int) -> JSONValue? {
        reader.find(path, in: element).map { reader.value(at: $0) }
    }

    @inline(__always)
    private static func index(_ value: JSONValue?, _ texts: Span<UInt8>) throws(RejectionReason) -> Double {
        switch value {
        case nil, .null: throw .noValue
        case .boolean, .array, .object: throw .badValue
        // Adding 0 turns -0 into 0.
        case .number(let number): return number + 0
        case .text(let range):
            let text = texts.extracting(range)
            guard let number = jsonNumber(text) else { throw saysNothing(text) ? .noValue : .badValue }
            return number + 0
        }
    }

    @inline(never)
    private borrowing func extras(of element: Int, _ texts: Span<UInt8>, in message: inout FeedMessage) -> CityExtras? {
        let concentrations = values(
            format.pollutants, of: element, texts, upTo: Pollutant.maximumConcentration, in: &message)
        let subIndices = values(format.subindices, of: element, texts, upTo: IndexRange.maximum, in: &message)
        let place = place(of: element, texts)
        if concentrations == nil, subIndices == nil, place == nil { return nil }
        return CityExtras(concentrations: concentrations, subIndices: subIndices, place: place)
    }

    /// - Returns: `nil` if the element has no such field, or `null`.
    private borrowing func values(
        _ path: [[UInt8]], of element: Int, _ texts: Span<UInt8>, upTo maximum: Double, in message: inout FeedMessage
    ) -> PollutantValues? {
        guard !path.isEmpty, let value = value(of: path, in: element), value != .null else { return nil }
        var values = PollutantValues()
        // The field is present but not an object: all values become unknown.
        guard case .object(let fields) = value else { return values }
        var place = fields.lowerBound
        while place < fields.upperBound, case .text(let range) = reader.value(at: place) {
            let name = texts.extracting(range)
            if let pollutant = PollutantValues.place(of: name) {
                values[pollutant] = Self.number(reader.value(at: place + 1), texts, in: 0...maximum)
            } else {
                message.unknownPollutants.insert(name)
            }
            place = reader.next(after: place + 1)
        }
        return values
    }

    private borrowing func place(of element: Int, _ texts: Span<UInt8>) -> CityPlace? {
        guard !format.place.isEmpty, let place = reader.find(format.place, in: element) else { return nil }
        var country: [UInt8] = []
        if case .text(let range) = value(of: CityPlace.countryPath, in: place),
            let name = CityName.accepted(texts, in: range), name.count <= CityPlace.maximumCountryBytes
        {
            country = name.map { texts[$0] }
        }
        let latitude = Self.number(value(of: CityPlace.latitudePath, in: place), texts, in: -90...90)
        let longitude = Self.number(value(of: CityPlace.longitudePath, in: place), texts, in: -180...180)
        if country.isEmpty, latitude == nil, longitude == nil { return nil }
        return CityPlace(country: country, latitude: latitude, longitude: longitude)
    }

    private static func number(_ value: JSONValue?, _ texts: Span<UInt8>, in range: ClosedRange<Double>) -> Double? {
        let number: Double? =
            switch value {
            case .number(let number): number
            case .text(let range): jsonNumber(texts.extracting(range))
            default: nil
            }
        // Adding 0 turns -0 into 0.
        return number.flatMap { range.contains($0) ? $0 + 0 : nil }
    }

    /// Returns unknown pollutant names not returned before: each once, at most ten in the decoder's life.
    public mutating func takeUnknownPollutants() -> [String] { unknownPollutants.unreported() }

    /// Whether the text means a missing value: empty, `-`, `NA` or `N/A`.
    private static func saysNothing(_ text: Span<UInt8>) -> Bool {
        let range = CityName.trimmed(text, in: text.indices)
        guard range.count <= 3 else { return false }
        let bytes = range.map { text[$0] }
        return ["", "-", "NA", "N/A"].contains { equalsIgnoringCase(bytes, $0) }
    }

    /// - Returns: `nil` if the element has no time, or one without a zone.
    private borrowing func time(
        of element: Int, _ texts: Span<UInt8>, in message: inout FeedMessage
    ) throws(RejectionReason) -> Timestamp? {
        let time: FeedTime?
        switch value(of: format.time, in: element) {
        case nil, .null: return nil
        case .boolean, .array, .object: time = nil
        case .number(let number): time = FeedTime(epoch: number)
        case .text(let range): time = .parse(texts.extracting(range), zone: format.timeZone)
        }
        switch time {
        case .at(let time) where time >= Self.earliest && time <= message.receivedAt + Self.maximumLead: return time
        case .withoutZone:
            message.hasTimesWithoutZone = true
            return nil
        default: throw .badTime
        }
    }
}
