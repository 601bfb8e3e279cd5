internal import Bytes
internal import JSON

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

    var reader = JSONReader()
    let format: FeedFormat
    /// Paths of what an element may have beside city and value: time, pollutants, sub-indices and place.
    private let otherPaths: InlineArray<4, [[UInt8]]>
    private var unknownPollutants = BoundedReport()
    /// Empty arrays of a recycled message, whose memory the next one reuses.
    private var spareReadings: [Reading] = []
    private var spareNames: [UInt8] = []

    public init(format: FeedFormat) {
        self.format = format
        otherPaths = [format.time.path, format.pollutants, format.subindices, format.place]
    }

    /// Decodes a message whose elements a program extracts.
    ///
    /// - Parameters:
    ///   - message: the received payload. A program gets it unless it is blank or not UTF-8.
    ///   - receivedAt: when the complete message had arrived.
    ///   - program: returns the elements of a message, JSON or not, as a JSON array, empty bytes for none; `nil` on
    ///     error. Called at most once.
    public mutating func decode(
        _ message: Span<UInt8>, receivedAt: Timestamp, through program: (Span<UInt8>, _ isJSON: Bool) -> [UInt8]?
    ) -> FeedMessage {
        var whole = MessageExcerpt()
        let content = inTurn(message.count) {
            defer { reader.forget() }
            let content = reader.content(of: message)
            if case .json(let positions, _) = content {
                reader.withTexts { whole = excerpt(ofMessage: positions, $0) }
            }
            return content
        }
        let extracted: [UInt8]?
        var reason = RejectionReason.jqError
        switch content {
        case .blank: return FeedMessage(byteCount: message.count, receivedAt: receivedAt)
        case .invalidUTF8: return FeedMessage(rejectedAs: .notJSON, byteCount: message.count, receivedAt: receivedAt)
        case .json(_, let replacement?): extracted = program(replacement.span, true)
        case .json(_, nil): extracted = program(message, true)
        case .text:
            extracted = program(message, false)
            reason = .notJSON
        }
        guard let elements = extracted else {
            return FeedMessage(rejectedAs: reason, whole, byteCount: message.count, receivedAt: receivedAt)
        }
        guard !elements.isEmpty else {
            var decoded = FeedMessage(byteCount: message.count, receivedAt: receivedAt)
            decoded.excerpt = whole
            return decoded
        }
        var decoded = inTurn(elements.count) { read(elements.span, byteCount: message.count, receivedAt) }
        if !decoded.hasReadings { decoded.excerpt = whole }
        return decoded
    }

    public mutating func decode(_ message: Span<UInt8>, receivedAt: Timestamp) -> FeedMessage {
        inTurn(message.count) { read(message, byteCount: message.count, receivedAt) }
    }

    /// Keeps the memory of a processed message for the next one.
    public mutating func recycle(_ message: consuming FeedMessage) {
        guard message.names.capacity <= 64 << 10, message.readings.capacity <= 4096 else { return }
        message.reuse(&spareReadings, &spareNames)
        spareReadings.removeAll(keepingCapacity: true)
        spareNames.removeAll(keepingCapacity: true)
    }

    /// - Parameter byteCount: size of the received message, from which a program may have produced this one.
    private mutating func read(_ message: Span<UInt8>, byteCount: Int, _ receivedAt: Timestamp) -> FeedMessage {
        defer { reader.forget() }
        if let texts = reader.read(message) { return decode(texts, byteCount: byteCount, receivedAt) }
        if isBlank(message: message) { return FeedMessage(byteCount: byteCount, receivedAt: receivedAt) }
        guard let replacement = replacingNonFiniteNumbers(in: message), let texts = reader.read(replacement.span) else {
            return FeedMessage(rejectedAs: .notJSON, byteCount: byteCount, receivedAt: receivedAt)
        }
        return decode(texts, byteCount: byteCount, receivedAt)
    }

    /// - Parameter positions: those of the JSON texts of the message that the reader holds.
    private mutating func decode(_ positions: Range<Int>, byteCount: Int, _ receivedAt: Timestamp) -> FeedMessage {
        var decoded = FeedMessage(byteCount: byteCount, receivedAt: receivedAt)
        decoded.reuse(&spareReadings, &spareNames)
        reader.appendTexts(to: &decoded.names)
        reader.withTexts { texts in
            var text = positions.lowerBound
            while text < positions.upperBound {
                if let items = reader.find(format.items, in: text) { decode(items: items, texts, into: &decoded) }
                text = reader.next(after: text)
            }
            if !decoded.hasReadings { decoded.excerpt = excerpt(ofMessage: positions, texts) }
        }
        for name in decoded.unknownPollutants.names { unknownPollutants.insert(name.span) }
        return decoded
    }

    private borrowing func decode(items: Int, _ texts: Span<UInt8>, into message: inout FeedMessage) {
        let elements: Range<Int>
        switch reader.value(at: items) {
        case .array(let positions): elements = positions
        case .object: elements = items..<reader.next(after: items)
        // As with fields, `null` is the same as absent.
        case .null where !format.items.isEmpty: return
        case .null, .boolean, .number, .text:
            // A message counts once, however many JSON texts it has.
            if message.rejections[.notAnArray] == 0 {
                message.reject(as: .notAnArray) { excerpt(ofElement: items, texts) }
            }
            return
        }
        // An element with two fields takes at least six positions.
        message.reserve(min(elements.count / 6, 128))
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
        let (city, value, hasMore) = reader.find(format.city, format.value, in: element)
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
        let aqi = try Self.aqi(value.map { reader.value(at: $0) }, texts)
        let reading = Reading(
            aqi: aqi ?? 0, hasValue: aqi != nil, time: message.receivedAt, hasOwnTime: false,
            nameStart: UInt32(name.lowerBound), nameCount: UInt8(name.count))
        if hasMore { return try add(reading, of: element, texts, to: &message) }
        guard aqi != nil else { throw .noValue }
        message.append(reading)
    }

    /// Adds the reading of an element that has more than a city and a value.
    @inline(never)
    private borrowing func add(
        _ reading: Reading, of element: Int, _ texts: Span<UInt8>, to message: inout FeedMessage
    ) throws(RejectionReason) {
        let others = reader.find(otherPaths, in: element)
        var reading = reading
        if reading.hasValue, let position = others[0], let time = try time(at: position, texts, in: &message) {
            reading.time = time
            reading.hasOwnTime = true
        }
        let extras = extras(others[1], others[2], others[3], texts, in: &message)
        // An element without a value may complete what is known of its city.
        guard reading.hasValue || extras != nil else { throw .noValue }
        if let extras { message.add(extras, to: message.readings.count) }
        message.append(reading)
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

    /// - Returns: `nil` if there is no value.
    @inline(__always)
    private static func aqi(_ value: JSONValue?, _ texts: Span<UInt8>) throws(RejectionReason) -> Double? {
        switch value {
        case nil, .null: return nil
        case .boolean, .array, .object: throw .badValue
        // Adding 0 turns -0 into 0.
        case .number(let number): return number + 0
        case .text(let range):
            let text = texts.extracting(range)
            if let number = jsonNumber(text) { return number + 0 }
            guard isNoValue(text) else { throw .badValue }
            return nil
        }
    }

    private borrowing func extras(
        _ pollutants: Int?, _ subIndices: Int?, _ place: Int?, _ texts: Span<UInt8>, in message: inout FeedMessage
    ) -> CityExtras? {
        if pollutants == nil, subIndices == nil, place == nil { return nil }
        let concentrations = values(at: pollutants, texts, upTo: Pollutant.maximumConcentration, in: &message)
        let subIndices = values(at: subIndices, texts, upTo: AQIRange.maximum, in: &message)
        let place = place.flatMap { self.place(at: $0, texts) }
        if concentrations == nil, subIndices == nil, place == nil { return nil }
        return CityExtras(concentrations: concentrations, subIndices: subIndices, place: place)
    }

    /// - Returns: `nil` if there is no object, or none of its values can be used.
    private borrowing func values(
        at object: Int?, _ texts: Span<UInt8>, upTo maximum: Double, in message: inout FeedMessage
    ) -> PollutantValues? {
        guard let object, case .object(let fields) = reader.value(at: object) else { return nil }
        var values: PollutantValues?
        var position = fields.lowerBound
        while position < fields.upperBound, case .text(let range) = reader.value(at: position) {
            let name = texts.extracting(range)
            if let pollutant = PollutantValues.index(of: name) {
                if let number = Self.number(reader.value(at: position + 1), texts, in: 0...maximum) {
                    values = values ?? PollutantValues()
                    values?[pollutant] = number
                }
            } else {
                message.unknownPollutants.insert(name)
            }
            position = reader.next(after: position + 1)
        }
        return values
    }

    private borrowing func place(at place: Int, _ texts: Span<UInt8>) -> CityPlace? {
        var country = 0..<0
        if case .text(let range) = value(of: CityPlace.country, in: place) { country = range }
        func number(_ paths: [[[UInt8]]], in range: ClosedRange<Double>) -> Double? {
            for path in paths {
                if let number = Self.number(value(of: path, in: place), texts, in: range) { return number }
            }
            return nil
        }
        let latitude = number(CityPlace.latitudes, in: -90...90)
        let longitude = number(CityPlace.longitudes, in: -180...180)
        return CityPlace(country: texts.extracting(country), latitude: latitude, longitude: longitude)
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

    /// - Returns: `nil` if there is no time, or one that stands for the arrival.
    private borrowing func time(
        at position: Int, _ texts: Span<UInt8>, in message: inout FeedMessage
    ) throws(RejectionReason) -> Timestamp? {
        let value = reader.value(at: position)
        if value == .null { return nil }
        let time: FeedTime? =
            switch value {
            case .number(let number): FeedTime(epoch: number)
            case .text(let range): .parse(texts.extracting(range), zone: format.timeZone)
            default: nil
            }
        switch time {
        case .at(let time) where time >= Self.earliest && time <= message.receivedAt + Self.maximumLead: return time
        case .withoutZone: message.hasTimesWithoutZone = true
        default:
            if format.time.isNamed { throw .badTime }
            message.hasUnreadableTimes = true
        }
        return nil
    }
}

/// Whether a text in place of a number means that there is none, as sensors and home automation write it.
func isNoValue(_ text: Span<UInt8>) -> Bool {
    let text = text.extracting(CityName.trimmed(text, in: text.indices))
    guard text.count <= 32 else { return false }
    let characters = String(decoding: text.indices.map { text[$0] }, as: UTF8.self).lowercased().unicodeScalars
    // Hyphen-minus, U+2010 … U+2015 and the minus sign.
    let dashes: Set<Unicode.Scalar> = [
        "-", "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2015}", "\u{2212}",
    ]
    return characters.allSatisfy(dashes.contains)
        || noValueTexts.contains { $0.unicodeScalars.elementsEqual(characters) }
}

private let noValueTexts = [
    "na", "n/a", "n.a.", "nd", "null", "none", "nan", "unknown", "unavailable", "no data", "offline",
]
